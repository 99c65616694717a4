import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { withoutRemoving } from "../../store/test_without_removing.ts";
import { resource, tool } from "../definition/define.ts";
import { createSseHandlers } from "./http_sse.ts";
import type { ToolServer } from "../service.ts";
import type { Message } from "../test_exchange.ts";
import { newServer, request } from "../test_server.ts";
import { hello, openSse as open, postSse as post } from "./test_sse.ts";
import { until } from "../../test_until.ts";

const test = suite("mcp/http_sse");
const NAME = { type: "object", properties: { name: { type: "string" } }, required: ["name"] } as const;
const definitions = [
  tool({ name: "add", description: "Adds", run: () => "3" }),
  tool({
    name: "ask",
    description: "Asks",
    run: async (_, call) => (await call.elicit({ message: "Who?", schema: NAME })).content?.name,
  }),
  tool({
    name: "slow",
    description: "Runs until it is cancelled",
    async run(_, call) {
      await call.progress(1);
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
      stopped();
    },
  }),
  resource({ uri: "test://a", name: "a", read: () => "x" }),
];
let stopped = (): void => {};

function pair(): [ToolServer, ToolServer] {
  const store = memoryStore();
  const options = { store, definitions, sse: createSseHandlers };
  return [newServer(options).server, newServer(options).server];
}

test("the stream begins with the endpoint, and has the responses of any instance", async () => {
  const [a, b] = pair();
  const { events, path } = await open(a);
  assert.match(path, /^\/mcp\/messages\?session=[\w.-]+$/);
  const accepted = await post(b, path, hello("2024-11-05"));
  assert.is(accepted.status, 202);
  const answer: Message = await events.message();
  assert.is(answer.result.protocolVersion, "2024-11-05");
  assert.is((await post(a, path, { jsonrpc: "2.0", method: "notifications/initialized" })).status, 202);
  await post(b, path, request("tools/call", { name: "add" }, "x"));
  assert.equal(await events.message(), {
    jsonrpc: "2.0",
    id: "x",
    result: { content: [{ type: "text", text: "3" }] },
  });
  await post(a, path, request("no/such", undefined, 9));
  assert.is((await events.message()).error.code, -32601);
  await events.cancel();
});

test("a tool sends a request on the stream, also in a newer revision", async () => {
  const [a, b] = pair();
  const { events, path } = await open(a);
  await post(b, path, hello("2025-06-18", { elicitation: {} }));
  assert.is((await events.message()).result.protocolVersion, "2025-06-18");
  await post(b, path, request("tools/call", { name: "ask" }));
  const { id, method } = await events.message();
  assert.is(method, "elicitation/create");
  const result = { action: "accept", content: { name: "Ann" } };
  assert.is((await post(a, path, { jsonrpc: "2.0", id, result })).status, 202);
  assert.is((await events.message()).result.content[0].text, "Ann");
  assert.is((await post(a, path, { jsonrpc: "2.0", id, result })).status, 400);
  await events.cancel();
});

test("attack: calls that wait for input count until they end", async () => {
  const { server } = newServer({ definitions, sse: createSseHandlers, streamLimits: { session: 3 } });
  const { events, path } = await open(server);
  await post(server, path, hello("2025-06-18", { elicitation: {} }));
  await events.message();
  const received: Message[] = [];
  for (let id = 1; id <= 10; id++) {
    await post(server, path, request("tools/call", { name: "ask" }, id));
    received.push(await events.message());
  }
  assert.is(received.filter(({ method }) => method === "elicitation/create").length, 3);
  assert.is(received.filter(({ error }) => error?.code === -32000).length, 7);
  assert.is(server.openStreams(), 4, "with the stream itself");
  const [{ id }] = received;
  await post(server, path, { jsonrpc: "2.0", id, result: { action: "accept", content: { name: "Ann" } } });
  assert.is((await events.message()).result.content[0].text, "Ann");
  assert.is(server.openStreams(), 3);
  await events.cancel();
  await until(() => server.openStreams() === 0);
});

test("progress, cancellation, subscriptions and changes work across instances", async () => {
  const [a, b] = pair();
  const { events, path } = await open(a);
  await post(a, path, hello("2024-11-05"));
  await events.message();
  const stop = new Promise<void>((resolve) => stopped = resolve);
  await post(b, path, request("tools/call", { name: "slow", _meta: { progressToken: 5 } }, 2));
  assert.equal((await events.message()).params, { progressToken: 5, progress: 1 });
  await post(a, path, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 2 } });
  await stop;
  await post(b, path, request("resources/subscribe", { uri: "test://a" }, 3));
  assert.is((await events.message()).id, 3);
  await new Promise((resolve) => setTimeout(resolve, 20));
  await b.resourceUpdated("test://a");
  assert.equal((await events.message()).params, { uri: "test://a" });
  await b.listChanged("tools");
  assert.is((await events.message()).method, "notifications/tools/list_changed");
  await events.cancel();
});

test("the endpoint of an ended stream gets 404", async () => {
  const [a, b] = pair();
  const { events, path } = await open(a);
  await events.cancel();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is((await post(b, path, request("ping"))).status, 404);
});

test("a stream ends when its session expires", async () => {
  let now = Date.now();
  const options = {
    definitions,
    sse: createSseHandlers,
    sessionLifetime: 1000,
    keepAlive: 10,
    now: () => now,
  };
  const { server } = newServer(options);
  const { events, path } = await open(server);
  now += 1001;
  assert.is((await post(server, path, request("ping"))).status, 404);
  assert.is(await events.next(), undefined);
  assert.is(server.openStreams(), 0);
});

test("a result that JSON cannot represent is an internal error", async () => {
  const big = tool({ name: "big", description: "Gives it", run: () => ({ content: [], _meta: { of: 1n } }) });
  const { server } = newServer({ definitions: [big], sse: createSseHandlers });
  const { events, path } = await open(server);
  await post(server, path, request("tools/call", { name: "big" }));
  assert.is((await events.message()).error.code, -32603);
  await events.cancel();
});

test("an invalid message, an unknown session and another caller's session are refused", async () => {
  const [a] = pair();
  const { events, path } = await open(a, { authorization: "Bearer reader" });
  const own = { authorization: "Bearer reader" };
  for (
    const [body, code] of [["{", -32700], ["[]", -32600], ["7", -32600], [
      '{"jsonrpc":"2.0"}',
      -32600,
    ]] as const
  ) {
    const response = await post(a, path, body, own);
    assert.is(response.status, 400);
    assert.is((await response.json()).error.code, code);
  }
  assert.is((await post(a, path, request("ping"))).status, 404);
  assert.is((await post(a, "/mcp/messages?session=x", request("ping"), own)).status, 404);
  assert.is((await post(a, "/mcp/messages", request("ping"), own)).status, 404);
  assert.is((await post(a, path, "x".repeat(10_001), own)).status, 413);
  await events.cancel();
});

test("other methods get 405; without the option the paths get 404", async () => {
  const [a] = pair();
  assert.is((await post(a, "/mcp/sse", request("ping"))).headers.get("allow"), "GET, OPTIONS");
  const get = await a.fetch(new Request("http://127.0.0.1:8787/mcp/messages"));
  assert.is(get.status, 405);
  const { server } = newServer();
  assert.is((await server.fetch(new Request("http://127.0.0.1:8787/mcp/sse"))).status, 404);
});

test("messages are sent once even if the store does not remove them", async () => {
  const store = withoutRemoving(memoryStore());
  const { server } = newServer({ store, definitions, sse: createSseHandlers });
  const { events, path } = await open(server);
  const seen: unknown[] = [];
  for (const id of [1, 2]) {
    assert.is((await post(server, path, { ...hello("2024-11-05"), id })).status, 202);
    while (seen.at(-1) !== id) seen.push((await events.message()).id);
  }
  assert.ok(seen.length <= 4, seen.join());
  await events.cancel();
});

test.run();
