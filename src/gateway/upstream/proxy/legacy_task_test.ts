/**
 * Tools of 2025-11-25 that run as tasks only.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { json, legacyServer, type Loose, result } from "../../../mcp_client/test_servers.ts";
import { until } from "../../../test_until.ts";
import { type Message, modern, session } from "../../../mcp/test_exchange.ts";
import { newGateway, type UpstreamServer } from "../test_gateway.ts";

const test = suite("gateway/upstream/proxy/tasks of 2025-11-25");
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const RELATED = "io.modelcontextprotocol/related-task";
const TOOL = { name: "slow", inputSchema: { type: "object" }, execution: { taskSupport: "required" } };

/** A server with one tool. `finish` ends its tasks. */
function taskServer(): UpstreamServer & { readonly called: Loose[]; finish(): void } {
  const called: Loose[] = [];
  let finish = (): void => {};
  const isOver = new Promise<void>((resolve) => finish = resolve);
  const { fetch } = legacyServer(async (received) => {
    const { message, method } = received;
    if (method === "GET") return new Response(null, { status: 405 });
    switch (message.method) {
      case "tools/list":
        return result(received, { tools: [TOOL] });
      case "tools/call":
        called.push(message.params);
        return result(received, { task: { taskId: "1", status: "working", ttl: null, pollInterval: 1 } });
      case "tasks/get":
        return result(received, { taskId: "1", status: "working", ttl: null, pollInterval: 1 });
      case "tasks/result":
        await isOver;
        return result(received, {
          content: [{ type: "text", text: "done" }],
          _meta: { [RELATED]: { taskId: "1" } },
        });
      default:
        return json(
          { jsonrpc: "2.0", id: message.id, error: { code: -32601, message: "Method not found" } },
          200,
        );
    }
  }, { tools: {}, tasks: { requests: { tools: { call: {} } } } });
  const server = {
    fetch: async (request: Request) => {
      const { url, method, headers } = request;
      const body = method === "POST" ? await request.text() : undefined;
      return await fetch(url, { method, headers, ...(body !== undefined && { body }) });
    },
  };
  return { server: server as unknown as UpstreamServer["server"], called, finish };
}

test("is awaited for clients without tasks", async () => {
  const up = taskServer();
  up.finish();
  const { server, upstreams } = await newGateway({ up });
  const params = { name: "up_slow", arguments: { a: 1 } };
  const { request } = await session(server, {});
  for (
    const { answer } of [await request("tools/call", params), await modern(server, "tools/call", params)]
  ) {
    assert.equal(answer.result.content, [{ type: "text", text: "done" }]);
    assert.is(answer.result._meta?.[RELATED], undefined);
  }
  assert.equal(up.called, [
    { name: "slow", arguments: { a: 1 }, task: {} },
    { name: "slow", arguments: { a: 1 }, task: {} },
  ]);
  await upstreams.close();
});

test("is a task of the gateway for clients with tasks", async () => {
  const up = taskServer();
  const { server, upstreams } = await newGateway({ up });
  const ask = async (method: string, params: Record<string, unknown>): Promise<Message> =>
    (await modern(server, method, params, { capabilities: TASKS })).answer.result;
  const { resultType, taskId } = await ask("tools/call", { name: "up_slow", arguments: {} });
  assert.is(resultType, "task");
  assert.is((await ask("tasks/get", { taskId })).status, "working");
  up.finish();
  let task = await ask("tasks/get", { taskId });
  while (task.status === "working") {
    await new Promise((resolve) => setTimeout(resolve, 5));
    task = await ask("tasks/get", { taskId });
  }
  assert.equal([task.status, task.result.content[0].text], ["completed", "done"]);
  await upstreams.close();
});

for (const capabilities of [TASKS, { ...TASKS, elicitation: {} }]) {
  const what = "elicitation" in capabilities ? "that can be asked for input" : "with tasks";
  test(`takes no place among the calls of its upstream, for a client ${what}`, async () => {
    const up = taskServer();
    const { server, upstreams } = await newGateway({ up }, { options: { maxConcurrent: 1, timeout: 2 } });
    const params = { name: "up_slow", arguments: {} };
    for (const calls of [1, 2, 3]) {
      await modern(server, "tools/call", params, { capabilities });
      await until(() => up.called.length === calls, "the call reaches the upstream");
    }
    up.finish();
    await until(() => upstreams.status()[0]!.running === 0, "no call runs");
    await upstreams.close();
  });
}

test.run();
