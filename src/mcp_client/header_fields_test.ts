import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { decodeHeaderValue } from "../mcp/http/header_value.ts";
import { encodeHeaderValue, findMarkedArguments, headerFields } from "./header_fields.ts";

const test = suite("mcp client/header fields");

test("a value is encoded where a field could not hold it, and decodes to itself", () => {
  for (const value of ["plain", "with space", "", "=?base64?", "50%"]) {
    assert.is(encodeHeaderValue(value), value);
  }
  for (const value of ["ü", " edge", "edge ", "a\nb", "a\r\nx-injected: 1", "=?base64?YQ==?=", "\u{1f600}"]) {
    const encoded = encodeHeaderValue(value);
    assert.match(encoded, /^=\?base64\?[A-Za-z0-9+/]*=*\?=$/);
    assert.is(decodeHeaderValue(encoded), value);
  }
});

test("requests repeat their method, name and marked arguments", () => {
  assert.equal(headerFields("tools/list", {}, undefined), { "mcp-method": "tools/list" });
  assert.equal(
    headerFields("resources/read", { uri: "test://ü" }, undefined)["mcp-name"],
    "=?base64?dGVzdDovL8O8?=",
  );
  const marked = ["a", "b", "c", "d", "e"].map((key) => ({ field: `mcp-param-${key}`, path: ["in", key] }));
  const args = { in: { a: "x", b: 2, c: false, d: 1.5, e: null } };
  assert.equal(headerFields("tools/call", { name: "t", arguments: args }, marked), {
    "mcp-method": "tools/call",
    "mcp-name": "t",
    "mcp-param-a": "x",
    "mcp-param-b": "2",
    "mcp-param-c": "false",
  });
});

test("a path does not lead into the prototype", () => {
  const marked = [{ field: "mcp-param-a", path: ["constructor", "name"] }];
  assert.equal(headerFields("tools/call", { name: "t", arguments: {} }, marked)["mcp-param-a"], undefined);
});

test("marks are found, and an invalid one excludes the tool", () => {
  const schema = (property: unknown) => ({
    type: "object",
    properties: { outer: { properties: { a: property } } },
  });
  assert.equal(findMarkedArguments(schema({ type: "string", "x-mcp-header": "Region" })), [
    { field: "mcp-param-region", path: ["outer", "a"] },
  ]);
  assert.equal(findMarkedArguments({ properties: { "x-mcp-header": { type: "string" } } }), []);
  assert.equal(findMarkedArguments({ default: { "x-mcp-header": "A" } }), []);
  const invalid = [
    schema({ type: "string", "x-mcp-header": "" }),
    schema({ type: "string", "x-mcp-header": "a b" }),
    schema({ type: "string", "x-mcp-header": "a\r\nb" }),
    schema({ type: "string", "x-mcp-header": 1 }),
    schema({ type: "number", "x-mcp-header": "A" }),
    { type: "string", "x-mcp-header": "A" },
    { properties: { a: { items: { type: "string", "x-mcp-header": "A" } } } },
    {
      properties: { a: { type: "string", "x-mcp-header": "A" }, b: { type: "string", "x-mcp-header": "a" } },
    },
  ];
  for (const each of invalid) assert.is(findMarkedArguments(each), undefined, JSON.stringify(each));
});

test("many marks are found without holding the event loop", async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 8000 }, (_, i) => [`p${i}`, { type: "string", "x-mcp-header": `P${i}` }]),
  );
  await assertLoopIsFree(() => assert.is(findMarkedArguments({ properties })?.length, 8000));
});

test.run();
