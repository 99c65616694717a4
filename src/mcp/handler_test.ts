import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RpcError } from "../jsonrpc/error.ts";
import { prompt, resource, resourceTemplate, tool } from "./definition/define.ts";
import type { StandardSchema } from "./schema/standard_schema.ts";
import { modern } from "./test_exchange.ts";
import { newServer, request, STREAMABLE } from "./test_server.ts";

const test = suite("mcp/handler");

/** A server whose handlers throw the error. */
function newThrowingServer(error: RpcError) {
  const fail = () => {
    throw error;
  };
  const schema: StandardSchema<Record<string, unknown>> = {
    "~standard": {
      version: 1,
      vendor: "x",
      validate: fail,
      jsonSchema: { input: () => ({ type: "object" }) },
    },
  };
  return newServer({
    definitions: [
      tool({ name: "runs", description: "d", run: fail }),
      tool({ name: "takes", description: "d", input: schema, run: () => "x" }),
      resource({ uri: "test://r", name: "r", read: fail }),
      resourceTemplate({ uriTemplate: "test://t/{v}", name: "t", read: fail, complete: { v: fail } }),
      prompt({ name: "p", get: fail }),
    ],
  });
}

const REQUESTS = [
  ["tools/call", { name: "runs" }],
  ["tools/call", { name: "takes" }],
  ["resources/read", { uri: "test://r" }],
  ["resources/read", { uri: "test://t/1" }],
  ["prompts/get", { name: "p" }],
  ["completion/complete", {
    ref: { type: "ref/resource", uri: "test://t/{v}" },
    argument: { name: "v", value: "" },
  }],
] as const;

for (const code of [-32700, -32600, -32601, -32602, -32020, -32021, -32022, -32002, 404]) {
  test(`the code ${code} of a handler does not set the HTTP status`, async () => {
    const { server, post } = newThrowingServer(new RpcError(code, "Of the handler", { why: 1 }));
    for (const [method, params] of REQUESTS) {
      const answered = await modern(server, method, params);
      const { code: sent, data } = answered.answer.error;
      assert.equal([answered.status, sent, data], [200, code, { why: 1 }]);
      const legacy = await post(request(method, params), STREAMABLE);
      assert.equal([legacy.status, legacy.body.error.code], [200, code]);
      const plain = await post(request(method, params));
      assert.equal([plain.status, plain.body.error.code], [500, code]);
    }
  });
}

test("an error of a list handler does not set the HTTP status", async () => {
  const list = () => Promise.reject(new RpcError(-32601, "Not here"));
  const { server } = newServer({
    definitions: [resourceTemplate({ uriTemplate: "test://{a}", name: "a", list, read: () => "x" })],
  });
  const { status, answer } = await modern(server, "resources/list");
  assert.equal([status, answer.error.code], [200, -32601]);
});

test("a code that is not an integer is an internal error", async () => {
  for (const code of [NaN, 1.5, "7" as never, undefined as never]) {
    const { post } = newThrowingServer(new RpcError(code, "Odd"));
    assert.is((await post(request("tools/call", { name: "runs" }))).body.error.code, -32603);
  }
});

test.run();
