import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../../http/test_loop_watchdog.ts";
import { tool } from "../definition/define.ts";
import { modern } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";
import { headerParameters } from "./header_parameters.ts";

const test = suite("mcp/header_parameters");
const input = {
  type: "object",
  properties: {
    region: { type: "string", "x-mcp-header": "Region" },
    level: { type: "integer", "x-mcp-header": "Level" },
    deep: {
      type: "object",
      properties: { on: { type: "boolean", "x-mcp-header": "Deep-On" } },
    },
    free: { type: "string" },
  },
} as const;
const { server } = newServer({
  definitions: [
    tool({ name: "place", description: "Has a region", input, run: (given) => JSON.stringify(given) }),
  ],
});
const call = (given: Record<string, unknown>, headers: Record<string, string>) =>
  modern(server, "tools/call", { name: "place", arguments: given }, { headers });
const base64 = (text: string) => `=?base64?${btoa(String.fromCharCode(...new TextEncoder().encode(text)))}?=`;

for (
  const [what, given, headers] of [
    ["plain", { region: "us-west1" }, { "mcp-param-region": "us-west1" }],
    ["base64", { region: "Größe" }, { "mcp-param-region": base64("Größe") }],
    ["base64 of an encoded value", { region: "=?base64?x?=" }, {
      "mcp-param-region": base64("=?base64?x?="),
    }],
    ["a value with only the prefix of the encoding", { region: "=?base64?eA==" }, {
      "mcp-param-region": "=?base64?eA==",
    }],
    ["a value with only the suffix of the encoding", { region: "eA==?=" }, { "mcp-param-region": "eA==?=" }],
    ["an integer", { level: 42 }, { "mcp-param-level": "42" }],
    ["an integer with a fraction of zero", { level: 42 }, { "mcp-param-level": "42.0" }],
    ["a negative integer", { level: -7 }, { "mcp-param-level": "-7" }],
    ["a nested boolean", { deep: { on: false } }, { "mcp-param-deep-on": "false" }],
    ["null", { region: null }, {}],
    ["nothing", {}, {}],
    ["an argument without a header field", { free: "x" }, { "mcp-param-other": "y" }],
  ] as const
) {
  test(`${what} matches its header field`, async () => {
    const { status, answer } = await call(given, headers);
    assert.is(status, 200, JSON.stringify(answer));
    assert.ok(answer.result);
  });
}

for (
  const [what, given, headers] of [
    ["the field is missing", { region: "us-west1" }, {}],
    ["the field differs", { region: "us-west1" }, { "mcp-param-region": "us-west2" }],
    ["the field differs in case", { region: "us" }, { "mcp-param-region": "US" }],
    ["base64 without padding", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVsbG8?=" }],
    ["base64 of another alphabet", { region: "Hello" }, { "mcp-param-region": "=?base64?SGVs!!!!?=" }],
    ["base64 of invalid UTF-8", { region: "\ufffd" }, { "mcp-param-region": "=?base64?/w==?=" }],
    ["a byte outside ASCII", { region: "ü" }, { "mcp-param-region": "ü" }],
    ["the argument is missing", {}, { "mcp-param-region": "us-west1" }],
    ["the argument is null", { region: null }, { "mcp-param-region": "null" }],
    ["text for an integer", { level: 42 }, { "mcp-param-level": "x" }],
    ["an empty field for zero", { level: 0 }, { "mcp-param-level": "" }],
    ["a hexadecimal number", { level: 42 }, { "mcp-param-level": "0x2a" }],
    ["an object with its own toString", { region: { toString: 1, valueOf: 1 } }, {
      "mcp-param-region": "x",
    }],
    ["a list", { region: ["us"] }, { "mcp-param-region": "us" }],
    ["a boolean in another case", { deep: { on: true } }, { "mcp-param-deep-on": "True" }],
  ] as const
) {
  test(`${what}: the request is refused with 400 and -32020`, async () => {
    const { status, answer } = await call(given, headers);
    assert.is(status, 400);
    assert.is(answer.error.code, -32020);
  });
}

for (
  const [what, schema, reason] of [
    ["a name that is not a token", { properties: { a: { type: "string", "x-mcp-header": "a b" } } }, /token/],
    ["an empty name", { properties: { a: { type: "string", "x-mcp-header": "" } } }, /token/],
    ["a name that is not a string", { properties: { a: { type: "string", "x-mcp-header": 1 } } }, /token/],
    ["a number", { properties: { a: { type: "number", "x-mcp-header": "A" } } }, /type/],
    ["an object", { properties: { a: { type: "object", "x-mcp-header": "A" } } }, /type/],
    ["no type", { properties: { a: { "x-mcp-header": "A" } } }, /type/],
    [
      "a duplicate name in another case",
      {
        properties: {
          a: { type: "string", "x-mcp-header": "A" },
          b: { type: "string", "x-mcp-header": "a" },
        },
      },
      /"a"/,
    ],
    ["the root", { "x-mcp-header": "A" }, /"properties"/],
    [
      "items",
      { properties: { a: { type: "array", items: { type: "string", "x-mcp-header": "A" } } } },
      /"properties"/,
    ],
    [
      "an alternative",
      { anyOf: [{ properties: { a: { type: "string", "x-mcp-header": "A" } } }] },
      /"properties"/,
    ],
    [
      "a condition",
      { if: { properties: { a: { type: "string", "x-mcp-header": "A" } } } },
      /"properties"/,
    ],
    ["a definition", { $defs: { a: { type: "string", "x-mcp-header": "A" } } }, /"properties"/],
  ] as const
) {
  test(`x-mcp-header on ${what} is refused at start`, () => {
    const define = () =>
      newServer({
        definitions: [
          tool({ name: "bad", description: "Bad", input: { type: "object", ...schema }, run: () => "" }),
        ],
      });
    assert.throws(define, (error: Error) => error instanceof TypeError && reason.test(error.message));
  });
}

test("the keyword inside default and enum is data", () => {
  newServer({
    definitions: [tool({
      name: "good",
      description: "Good",
      input: {
        type: "object",
        properties: { a: { default: { "x-mcp-header": 1 }, enum: [{ "x-mcp-header": 2 }] } },
      },
      run: () => "",
    })],
  });
});

test("many parameters are found without holding the event loop", async () => {
  const properties = Object.fromEntries(
    Array.from({ length: 8000 }, (_, i) => [`p${i}`, { type: "string", "x-mcp-header": `P${i}` }]),
  );
  await assertLoopIsFree(() => assert.is(headerParameters({ properties }, "many").length, 8000));
});

test.run();
