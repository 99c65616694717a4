/**
 * The plain profile: requests without Accept for event streams and without protocol version.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { call, newServer, request } from "../test_server.ts";

const test = suite("mcp/http_plain");
const NOTIFICATION = { jsonrpc: "2.0", method: "notifications/initialized" };

test("plain: a result gets 200 application/json", async () => {
  const { status, headers, body } = await newServer().post(request("ping"));
  assert.is(status, 200);
  assert.is(headers.get("content-type"), "application/json");
  assert.equal(body, { jsonrpc: "2.0", id: 1, result: {} });
});

for (
  const message of [NOTIFICATION, { jsonrpc: "2.0", method: "unknown" }, {
    jsonrpc: "2.0",
    id: 1,
    result: {},
  }]
) {
  test(`plain: ${JSON.stringify(message)} gets 204 with an empty body`, async () => {
    const { status, body } = await newServer().post(message);
    assert.is(status, 204);
    assert.is(body, undefined);
  });
}

for (
  const [what, message, status, code] of [
    ["an unknown method", request("no/such"), 400, -32601],
    ["an unknown tool", call("nothing"), 500, -32000],
    ["an unknown prompt", request("prompts/get", { name: "nothing" }), 500, -32000],
    ["an unknown resource", request("resources/read", { uri: "test://nothing" }), 500, -32000],
    ["a missing parameter", request("tools/call", {}), 400, -32602],
    ["params that are a list", request("tools/call", ["add"]), 400, -32602],
    ["arguments that are not an object", call("add", [1, 2]), 400, -32602],
    ["an invented cursor", request("tools/list", { cursor: "x" }), 400, -32602],
    ["invalid JSON", "{", 400, -32700],
    ["an empty body", "", 400, -32700],
    ["invalid UTF-8", Uint8Array.of(0x22, 0xff, 0x22), 400, -32700],
    ["a message of another version", { jsonrpc: "1.0", id: 1, method: "ping" }, 400, -32600],
    ["an empty batch", [], 400, -32600],
    ["a message above the limit", JSON.stringify(request("ping", { x: "y".repeat(10_000) })), 413, -32600],
  ] as const
) {
  test(`plain: ${what} gets ${status} with ${code}`, async () => {
    const answer = await newServer().post(message);
    assert.is(answer.status, status);
    assert.is(answer.headers.get("content-type"), "application/json");
    assert.is(answer.body.jsonrpc, "2.0");
    assert.is(answer.body.error.code, code);
    assert.type(answer.body.error.message, "string");
    assert.not.ok("result" in answer.body);
  });
}

test("plain: the error for an unknown method or tool contains its name", async () => {
  const { post } = newServer();
  assert.match((await post(request("no/such"))).body.error.message, "no/such");
  assert.match((await post(call("nothing"))).body.error.message, "nothing");
});

test("plain: a batch gets 200 with a list whose errors keep their plain codes", async () => {
  const { status, body } = await newServer().post([
    call("nothing"),
    NOTIFICATION,
    request("ping", undefined, "b"),
    7,
  ]);
  assert.is(status, 200);
  assert.equal(body.map((each: { id: unknown; error?: { code: number } }) => [each.id, each.error?.code]), [
    [1, -32000],
    ["b", undefined],
    [null, -32600],
  ]);
  assert.is((await newServer().post([NOTIFICATION, NOTIFICATION])).status, 204);
});

test.run();
