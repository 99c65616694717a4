/**
 * Test kit: faults of two instances in processes of their own. An instance is killed, the store is unavailable, clients
 * disconnect.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { WATCHED } from "./test_instances.ts";
import {
  Client,
  eventually,
  type Pair,
  type Stream,
  textOf,
  watchMessages,
} from "./test_instances_client.ts";
import { startTask, TASK_CLIENT, until } from "./test_instances_tasks.ts";

const PROGRESS = { _meta: { progressToken: "p" } };
const ASKING = { capabilities: { elicitation: {} } };
const ACCEPT = { result: { action: "accept", content: { name: "Ann" } } };
/** Time until another instance detects that one has stopped. */
const MAX_DETECTION_MS = 25_000;

/** Opens a session, starts a call in it and reads its first messages. */
async function startCall({ a }: Pair, tool: string, args: unknown, count: number) {
  const client = await Client.open(a, ASKING);
  const stream = (await client.call(a, tool, args, PROGRESS)).stream!;
  const messages = [];
  while (messages.length < count) messages.push(await stream.next());
  return { client, stream, messages };
}

/** Kills A during calls. Returns the function that checks the outcome on B. */
export async function killDuringCalls(
  pair: Pair,
  kill: () => Promise<unknown>,
): Promise<() => Promise<void>> {
  const { a, b } = pair;
  const counting = await startCall(pair, "count", { to: 1000, every: 20 }, 5);
  const asking = await startCall(pair, "ask", {}, 1);
  const listener = await Client.open(a);
  const session = (await listener.get(a)).stream!;
  const { json } = (await session.nextEvent())!;
  assert.is(json, undefined);
  const tasks = new Client(TASK_CLIENT);
  const failing = await startTask(a, tasks, "task", { takes: 600_000 });
  const restarting = await startTask(a, tasks, "restarting_task");
  const updates = (await tasks.request(b, "subscriptions/listen", {
    notifications: { taskIds: [failing, restarting] },
  })).stream!;
  await updates.next();
  await kill();
  const killed = Date.now();

  async function readLost({ client, stream }: typeof counting): Promise<unknown[]> {
    const rest = (await client.get(b, stream.lastId)).stream!;
    const messages = await rest.rest(MAX_DETECTION_MS);
    const { id, error } = messages.at(-1);
    assert.is(id, client.lastRequest);
    assert.is(error.code, -32603);
    assert.ok(Date.now() - killed < MAX_DETECTION_MS);
    return messages.slice(0, -1);
  }

  async function changesContinue(): Promise<void> {
    await b.order({ do: "replace" });
    const stream = (await listener.get(b, session.lastId)).stream!;
    assert.is((await stream.next()).method, "notifications/tools/list_changed");
    await stream.cut();
  }

  /** Statuses of tasks, by notification and by polling. */
  async function tasksEnd(): Promise<void> {
    const failed = await until(b, tasks, failing, "failed", MAX_DETECTION_MS);
    assert.is(failed.error.code, -32603);
    assert.is(failed.statusMessage, failed.error.message);
    const restarted = await until(b, tasks, restarting, "completed", MAX_DETECTION_MS);
    assert.is(restarted.result.content[0].text, "done on B");
    const last = new Map<string, string>();
    while (last.get(failing) !== "failed" || last.get(restarting) !== "completed") {
      const { params } = await updates.next();
      last.set(params.taskId, params.status);
    }
    await updates.cut();
  }

  const work = Promise.all([
    readLost(counting).then((messages) => {
      const numbers = messages.map((each) => (each as { params: { progress: number } }).params.progress);
      assert.ok(numbers.length > 0 || counting.messages.length > 0);
      assert.equal(
        numbers,
        numbers.map((_, i) => i + 6),
        "the logged events after the five that were read, in order",
      );
    }),
    readLost(asking).then((messages) => assert.equal(messages, [])),
    changesContinue(),
    tasksEnd(),
  ]);
  work.catch(() => {});
  return async () => void await work;
}

/** Makes the store unavailable during calls, and then available again. */
export async function interruptStore(
  pair: Pair,
  { stop, restart }: { stop: () => void; restart: () => void },
): Promise<void> {
  const { a, b } = pair;
  const counting = await startCall(pair, "count", { to: 60, every: 50 }, 3);
  const closed = await startCall(pair, "count", { to: 60, every: 50 }, 3);
  await closed.stream.cut();
  const resumed = (await closed.client.get(b, closed.stream.lastId)).stream!;
  const asking = await startCall(pair, "ask", {}, 1);
  const waiting = await startCall(pair, "wait", {}, 1);
  const newMessages = await watchMessages(a);
  const listener = await Client.open(a);
  await listener.request(a, "resources/subscribe", { uri: WATCHED });
  const session = (await listener.get(b)).stream!;
  await session.nextEvent();
  const modern = (await new Client({ revision: "2026-07-28" }).request(b, "subscriptions/listen", {
    notifications: { resourceSubscriptions: [WATCHED], toolsListChanged: true },
  })).stream!;
  await modern.next();
  const tasks = new Client(TASK_CLIENT);
  const task = await startTask(a, tasks, "task", { takes: 2500 });

  stop();
  const refused = await listener.request(b, "ping");
  assert.is(refused.status, 503);
  assert.ok(Number(refused.headers.get("retry-after")) > 0);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  restart();
  for (const on of [a, b]) {
    // Bun sometimes detects after five seconds that a connection was closed while it was opened.
    const isAvailable = async () => (await listener.request(on, "ping")).status === 200;
    await eventually(isAvailable, `${on.name} responds`, 15_000);
  }

  const progressOf = (messages: { params?: { progress: number } }[]) =>
    messages.map(({ params }) => params?.progress);
  const numbers = Array.from({ length: 57 }, (_, i) => i + 4);
  const whole = await counting.stream.rest();
  assert.equal(progressOf(whole), [...numbers, undefined]);
  assert.is(textOf(whole.at(-1)), "counted on A");
  assert.equal(progressOf(await resumed.rest()), [...numbers, undefined]);

  assert.is(await asking.client.answer(b, asking.messages[0].id, ACCEPT), 202);
  assert.equal((await asking.stream.rest()).map(textOf), ["accept Ann on A"]);
  const requestId = waiting.client.lastRequest;
  await waiting.client.post(b, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  assert.equal(await waiting.stream.rest(), []);
  assert.ok((await newMessages(1)).includes("wait was aborted"));

  await a.order({ do: "update", uri: WATCHED });
  await a.order({ do: "replace" });
  for (const stream of [session, modern]) {
    assert.is((await stream.next()).params.uri, WATCHED);
    assert.is((await stream.next()).method, "notifications/tools/list_changed");
    assert.ok(await stream.isQuiet(200));
    await stream.cut();
  }
  const done = await until(b, tasks, task, "completed");
  assert.is(done.result.content[0].text, "done on A");
}

/** Clients disconnect during and before the response. */
export async function disconnectClients({ a, b }: Pair): Promise<void> {
  const legacy = await Client.open(a);
  const modern = new Client({ revision: "2026-07-28" });
  const listen = { notifications: { toolsListChanged: true } };
  const streams: Stream[] = [];
  for (let i = 0; i < 60; i++) {
    const on = i % 2 ? a : b;
    const open = [
      () => legacy.get(on),
      () => modern.request(on, "subscriptions/listen", listen),
      () => modern.call(on, "wait", {}, PROGRESS),
      () => legacy.get(on, undefined, "/mcp/sse"),
    ][i % 4]!;
    const reply = open();
    reply.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, i % 7));
    for (const client of [legacy, modern]) client.disconnect();
    await reply.then(({ stream }) => stream && streams.push(stream), () => {});
  }
  await Promise.all(streams.map((stream) => stream.cut()));
}
