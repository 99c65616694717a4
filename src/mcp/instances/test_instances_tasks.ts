/**
 * Test kit: scenarios of tasks, of input requests that suspend a run, and of HTTP+SSE (2024-11-05), with requests to
 * different instances.
 *
 * @module
 */
import * as assert from "uvu/assert";
import type { Instance } from "./test_instances.ts";
import {
  Client,
  type ClientOptions,
  eventually,
  type Pair,
  type Scenario,
  type Stream,
  textOf,
  watchMessages,
} from "./test_instances_client.ts";
import { request } from "../test_server.ts";

/** A client that supports tasks. */
export const TASK_CLIENT: ClientOptions = {
  revision: "2026-07-28",
  capabilities: { elicitation: {}, extensions: { "io.modelcontextprotocol/tasks": {} } },
};
const NAMED = { name: { action: "accept", content: { name: "Ann" } } };

// deno-lint-ignore no-explicit-any
type Task = any;

/** Starts a task. Returns its id. */
export async function startTask(
  on: Instance,
  client: Client,
  tool: string,
  args: unknown = {},
): Promise<string> {
  const { body } = await client.call(on, tool, args);
  assert.is(body.result.resultType, "task", JSON.stringify(body));
  return body.result.taskId;
}

async function getTask(on: Instance, client: Client, taskId: string): Promise<Task> {
  const { body } = await client.request(on, "tasks/get", { taskId });
  return body.result ?? body;
}

/** Waits until a task has a status. */
export async function until(
  on: Instance,
  client: Client,
  taskId: string,
  status: string,
  timeoutMs = 6000,
): Promise<Task> {
  let task: Task;
  await eventually(
    async () => (task = await getTask(on, client, taskId)).status === status,
    `a task ${status}`,
    timeoutMs,
  );
  return task;
}

/** Reads the statuses of a stream up to `last`. */
async function statuses(stream: Stream, last: string): Promise<string[]> {
  const seen: string[] = [];
  while (seen.at(-1) !== last) seen.push((await stream.next()).params.status);
  return seen;
}

export const TASK_SCENARIOS: readonly Scenario[] = [
  ["B returns the status and result of a task on A", async ({ a, b }) => {
    const client = new Client(TASK_CLIENT);
    const id = await startTask(a, client, "task", { takes: 300 });
    const working = await getTask(b, client, id);
    assert.is(working.status, "working");
    const done = await until(b, client, id, "completed");
    assert.is(done.result.content[0].text, "done on A");
    assert.is(done.resultType, "complete");
  }],

  ["a task continues after its client disconnects", async ({ a, b }) => {
    const client = new Client(TASK_CLIENT);
    const { body } = await client.call(a, "late_task");
    client.disconnect();
    const done = await until(b, client, body.result.taskId, "completed");
    assert.is(done.result.content[0].text, "done on A");
  }],

  ["a task is private to its principal on every instance", async ({ a, b }) => {
    const id = await startTask(a, new Client({ ...TASK_CLIENT, token: "reader" }), "task", { takes: 0 });
    const other = await getTask(b, new Client({ ...TASK_CLIENT, token: "writer" }), id);
    assert.is(other.error.code, -32602);
  }],

  ["tasks/update on B runs the tool on B with the response", async ({ a, b }) => {
    const client = new Client(TASK_CLIENT);
    const id = await startTask(a, client, "asking_task");
    const waiting = await until(b, client, id, "input_required");
    assert.is(waiting.inputRequests.name.method, "elicitation/create");
    assert.is((await client.request(b, "tasks/update", { taskId: id, inputResponses: NAMED })).status, 200);
    const done = await until(a, client, id, "completed");
    assert.is(done.result.content[0].text, "Ann on B");
    assert.not.ok("inputRequests" in done);
  }],

  ["concurrent updates on both instances run the tool once", async ({ a, b }) => {
    const client = new Client(TASK_CLIENT);
    const id = await startTask(a, client, "asking_task");
    await until(b, client, id, "input_required");
    const params = { taskId: id, inputResponses: NAMED };
    const replies = await Promise.all([a, b, a, b].map((on) => client.request(on, "tasks/update", params)));
    assert.equal(replies.map(({ status }) => status), [200, 200, 200, 200]);
    assert.match((await until(a, client, id, "completed")).result.content[0].text, /^Ann on [AB]$/);
  }],

  ["tasks/cancel on B aborts the run on A", async ({ a, b }) => {
    const client = new Client(TASK_CLIENT);
    const newMessages = await watchMessages(a);
    const id = await startTask(a, client, "task", { takes: 5000 });
    assert.is((await client.request(b, "tasks/cancel", { taskId: id })).status, 200);
    assert.is((await getTask(a, client, id)).status, "cancelled");
    assert.equal(await newMessages(1), ["task was aborted"]);
    assert.is((await getTask(b, client, id)).status, "cancelled");
  }],

  ["a stream on B has the statuses of a task on A", async ({ a, b }) => {
    const client = new Client(TASK_CLIENT);
    const id = await startTask(a, client, "task", { takes: 400 });
    const stream =
      (await client.request(b, "subscriptions/listen", { notifications: { taskIds: [id, "unknown"] } }))
        .stream!;
    assert.equal((await stream.next()).params.notifications.taskIds, [id]);
    const seen = await statuses(stream, "completed");
    assert.ok(seen.slice(0, -1).every((each) => each === "working"), seen.join());
    assert.ok(await stream.isQuiet(300));
    await stream.cut();
  }],

  ["a stream on B has input requests, responses and cancellation of tasks", async ({ a, b }) => {
    const client = new Client(TASK_CLIENT);
    const [id, other] = [
      await startTask(a, client, "asking_task"),
      await startTask(a, client, "task", { takes: 5000 }),
    ];
    await until(b, client, id, "input_required");
    const stream = (await client.request(b, "subscriptions/listen", { notifications: { taskIds: [id] } }))
      .stream!;
    await stream.next();
    await client.request(a, "tasks/update", { taskId: id, inputResponses: NAMED });
    assert.is((await statuses(stream, "completed")).at(-1), "completed");
    await stream.cut();
    const cancelled =
      (await client.request(b, "subscriptions/listen", { notifications: { taskIds: [other] } })).stream!;
    await cancelled.next();
    await client.request(a, "tasks/cancel", { taskId: other });
    await statuses(cancelled, "cancelled");
    await cancelled.cut();
  }],
];

export const QUESTION_SCENARIOS: readonly Scenario[] = [
  ["a call with an input request on A is retried on B", async ({ a, b }) => {
    const client = new Client(TASK_CLIENT);
    const asked = (await client.call(a, "ask", { about: "he" })).body.result;
    assert.is(asked.resultType, "input_required");
    const more = { requestState: asked.requestState, inputResponses: NAMED };
    const { body } = await client.call(b, "ask", { about: "he" }, more);
    assert.is(textOf(body), "accept Ann on B");
  }],

  [
    "requestState is refused for other arguments, tools and principals, and when expired",
    async ({ a, b }) => {
      const client = new Client({ ...TASK_CLIENT, token: "reader" });
      const other = new Client({ ...TASK_CLIENT, token: "writer" });
      const { requestState } = (await client.call(a, "ask", { about: "he" })).body.result;
      const more = { requestState, inputResponses: NAMED };
      const codeOf = async (caller: Client, tool: string, about: string): Promise<number | undefined> =>
        (await caller.call(b, tool, { about }, more)).body.error?.code;
      assert.is(await codeOf(client, "ask", "she"), -32602);
      assert.is(await codeOf(client, "ask_model", "he"), -32602);
      assert.is(await codeOf(other, "ask", "he"), -32602);
      assert.is(await codeOf(new Client(TASK_CLIENT), "ask", "he"), -32602);
      assert.is(await codeOf(client, "ask", "he"), undefined);
      await b.order({ do: "advance", by: 31 * 60_000 });
      assert.is(await codeOf(client, "ask", "he"), -32602);
      await b.order({ do: "advance", by: -31 * 60_000 });
      assert.is(await codeOf(client, "ask", "he"), undefined);
    },
  ],
];

/** A client of HTTP+SSE: its stream on A, and a function that posts to the endpoint of the stream. */
async function openSse({ a, b }: Pair) {
  const client = new Client({ revision: "2024-11-05" });
  const { stream } = await client.get(a, undefined, "/mcp/sse");
  const { event, data } = (await stream!.nextEvent())!;
  assert.is(event, "endpoint");
  const post = (on: Instance, message: Record<string, unknown>) => client.post(on, message, data);
  let ids = 0;
  const ask = async (on: Instance, method: string, params: unknown): Promise<void> =>
    assert.is((await post(on, request(method, params, ++ids))).status, 202);
  await ask(b, "initialize", {
    protocolVersion: "2024-11-05",
    capabilities: { sampling: {} },
    clientInfo: { name: "old", version: "1" },
  });
  assert.is((await stream!.next()).result.protocolVersion, "2024-11-05");
  return { stream: stream!, post, ask };
}

export const SSE_SCENARIOS: readonly Scenario[] = [
  ["HTTP+SSE: the stream is on A, messages are posted to B", async (pair) => {
    const { stream, post, ask } = await openSse(pair);
    await ask(pair.b, "tools/call", { name: "who" });
    assert.is(textOf(await stream.next()), "B");
    await ask(pair.b, "tools/call", {
      name: "count",
      arguments: { to: 50, every: 0 },
      _meta: { progressToken: 1 },
    });
    for (let i = 1; i <= 50; i++) assert.is((await stream.next()).params.progress, i);
    assert.is(textOf(await stream.next()), "counted on B");
    await ask(pair.b, "tools/call", { name: "ask_model" });
    const sampling = await stream.next();
    assert.is(sampling.method, "sampling/createMessage");
    const result = { role: "assistant", content: { type: "text", text: "Hello" }, model: "m" };
    assert.is((await post(pair.a, { jsonrpc: "2.0", id: sampling.id, result })).status, 202);
    assert.is(textOf(await stream.next()), "Hello on B");
    await stream.cut();
  }],

  ["HTTP+SSE: changes of B are sent on A, and A cancels a call on B", async (pair) => {
    const { a, b } = pair;
    const { stream, post, ask } = await openSse(pair);
    await ask(b, "resources/subscribe", { uri: "test://watched" });
    assert.equal((await stream.next()).result, {});
    await b.order({ do: "update", uri: "test://watched" });
    assert.is((await stream.next()).params.uri, "test://watched");
    await b.order({ do: "update", uri: "test://other" });
    const newMessages = await watchMessages(b);
    await ask(b, "tools/call", { name: "wait", _meta: { progressToken: 1 } });
    assert.is((await stream.next()).params.progress, 1);
    await post(a, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 3 } });
    await ask(b, "ping", {});
    assert.is((await stream.next()).id, 4);
    assert.equal(await newMessages(1), ["wait was aborted"]);
    await stream.cut();
  }],

  ["HTTP+SSE: the end of the stream ends its session and calls", async (pair) => {
    const { stream, post, ask } = await openSse(pair);
    const newMessages = await watchMessages(pair.b);
    await ask(pair.b, "tools/call", { name: "wait", _meta: { progressToken: 1 } });
    await stream.next();
    await ask(pair.b, "tools/call", { name: "ask_model" });
    await stream.next();
    await stream.cut();
    const hasEnded = async () => (await post(pair.b, request("ping"))).status === 404;
    await eventually(hasEnded, "the end of the session");
    assert.equal(await newMessages(1), ["wait was aborted"]);
  }],
];
