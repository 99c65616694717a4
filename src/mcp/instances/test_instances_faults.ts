/**
 * Faults, for two instances in their own processes: an instance is killed, the store is unavailable for a while, clients
 * disconnect at any moment. Nothing but tests imports this.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { WATCHED } from "./test_instances.ts";
import { Client, eventually, type Pair, type Stream, tellingOf, textOf } from "./test_instances_client.ts";
import { begin, TASK_CLIENT, until } from "./test_instances_tasks.ts";

const PROGRESS = { _meta: { progressToken: "p" } };
const ASKING = { capabilities: { elicitation: {} } };
const ACCEPT = { result: { action: "accept", content: { name: "Ann" } } };
/** How long it may take until other instances find that one has stopped. */
const MAX_DETECTION_MS = 25_000;

/** A session, a running call in it, and its first messages. */
async function started({ a }: Pair, tool: string, args: unknown, count: number) {
  const client = await Client.open(a, ASKING);
  const stream = (await client.call(a, tool, args, PROGRESS)).stream!;
  const said = [];
  while (said.length < count) said.push(await stream.next());
  return { client, stream, said };
}

/** Kills A during calls. Returns the function that checks the outcome on B. */
export async function killInTheMiddle(
  pair: Pair,
  kill: () => Promise<unknown>,
): Promise<() => Promise<void>> {
  const { a, b } = pair;
  const counting = await started(pair, "count", { to: 1000, every: 20 }, 5);
  const asking = await started(pair, "ask", {}, 1);
  const listener = await Client.open(a);
  const session = (await listener.get(a)).stream!;
  const { json } = (await session.nextEvent())!;
  assert.is(json, undefined);
  const tasks = new Client(TASK_CLIENT);
  const failing = await begin(a, tasks, "task", { takes: 600_000 });
  const restarting = await begin(a, tasks, "restarting_task");
  const told = (await tasks.request(b, "subscriptions/listen", {
    notifications: { taskIds: [failing, restarting] },
  })).stream!;
  await told.next();
  await kill();
  const killed = Date.now();

  async function lost({ client, stream }: typeof counting): Promise<unknown[]> {
    const rest = (await client.get(b, stream.lastId)).stream!;
    const messages = await rest.rest(MAX_DETECTION_MS);
    const { id, error } = messages.at(-1);
    assert.is(id, client.lastRequest);
    assert.is(error.code, -32603);
    assert.match(error.message, "Send the request again");
    assert.ok(Date.now() - killed < MAX_DETECTION_MS);
    return messages.slice(0, -1);
  }

  async function changesGoOn(): Promise<void> {
    await b.order({ do: "replace" });
    const stream = (await listener.get(b, session.lastId)).stream!;
    assert.is((await stream.next()).method, "notifications/tools/list_changed");
    await stream.cut();
  }

  /** Statuses of tasks, by notification and by polling. */
  async function tasksEnd(): Promise<void> {
    const failed = await until(b, tasks, failing, "failed", MAX_DETECTION_MS);
    assert.is(failed.error.code, -32603);
    assert.match(failed.statusMessage, "Call the tool again");
    const again = await until(b, tasks, restarting, "completed", MAX_DETECTION_MS);
    assert.is(again.result.content[0].text, "done on B");
    const last = new Map<string, string>();
    while (last.get(failing) !== "failed" || last.get(restarting) !== "completed") {
      const { params } = await told.next();
      last.set(params.taskId, params.status);
    }
    await told.cut();
  }

  const work = Promise.all([
    lost(counting).then((messages) => {
      const numbers = messages.map((each) => (each as { params: { progress: number } }).params.progress);
      assert.ok(numbers.length > 0 || counting.said.length > 0);
      assert.equal(
        numbers,
        numbers.map((_, i) => i + 6),
        "what was kept, in order, after the five that were seen",
      );
    }),
    lost(asking).then((messages) => assert.equal(messages, [])),
    changesGoOn(),
    tasksEnd(),
  ]);
  work.catch(() => {});
  return async () => void await work;
}

/** The store is unavailable during calls, and then available again. */
export async function storeGoesAway(
  pair: Pair,
  { leave, comeBack }: { leave: () => void; comeBack: () => void },
): Promise<void> {
  const { a, b } = pair;
  const counting = await started(pair, "count", { to: 60, every: 50 }, 3);
  const cut = await started(pair, "count", { to: 60, every: 50 }, 3);
  await cut.stream.cut();
  const resumed = (await cut.client.get(b, cut.stream.lastId)).stream!;
  const asking = await started(pair, "ask", {}, 1);
  const waiting = await started(pair, "wait", {}, 1);
  const telling = await tellingOf(a);
  const listener = await Client.open(a);
  await listener.request(a, "resources/subscribe", { uri: WATCHED });
  const session = (await listener.get(b)).stream!;
  await session.nextEvent();
  const modern = (await new Client({ revision: "2026-07-28" }).request(b, "subscriptions/listen", {
    notifications: { resourceSubscriptions: [WATCHED], toolsListChanged: true },
  })).stream!;
  await modern.next();
  const tasks = new Client(TASK_CLIENT);
  const task = await begin(a, tasks, "task", { takes: 2500 });

  leave();
  const away = await listener.request(b, "ping");
  assert.is(away.status, 503);
  assert.ok(Number(away.headers.get("retry-after")) > 0);
  await new Promise((resolve) => setTimeout(resolve, 1500));
  comeBack();
  for (const on of [a, b]) {
    // Bun sometimes takes five seconds to notice that a connection was cut while it was opened.
    const isBack = async () => (await listener.request(on, "ping")).status === 200;
    await eventually(isBack, `${on.name} is back`, 15_000);
  }

  const progressOf = (messages: { params?: { progress: number } }[]) =>
    messages.map(({ params }) => params?.progress);
  const numbers = Array.from({ length: 57 }, (_, i) => i + 4);
  const whole = await counting.stream.rest();
  assert.equal(progressOf(whole), [...numbers, undefined]);
  assert.is(textOf(whole.at(-1)), "counted on A");
  assert.equal(progressOf(await resumed.rest()), [...numbers, undefined]);

  assert.is(await asking.client.answer(b, asking.said[0].id, ACCEPT), 202);
  assert.equal((await asking.stream.rest()).map(textOf), ["accept Ann on A"]);
  const requestId = waiting.client.lastRequest;
  await waiting.client.post(b, { jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
  assert.equal(await waiting.stream.rest(), []);
  assert.ok((await telling(1)).includes("wait was aborted"));

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
export async function clientsHangUp({ a, b }: Pair): Promise<void> {
  const legacy = await Client.open(a);
  const modern = new Client({ revision: "2026-07-28" });
  const listen = { notifications: { toolsListChanged: true } };
  const streams: Stream[] = [];
  for (let i = 0; i < 60; i++) {
    const on = i % 2 ? a : b;
    const begin = [
      () => legacy.get(on),
      () => modern.request(on, "subscriptions/listen", listen),
      () => modern.call(on, "wait", {}, PROGRESS),
      () => legacy.get(on, undefined, "/mcp/sse"),
    ][i % 4]!;
    const reply = begin();
    reply.catch(() => {});
    await new Promise((resolve) => setTimeout(resolve, i % 7));
    for (const client of [legacy, modern]) client.hangUp();
    await reply.then(({ stream }) => stream && streams.push(stream), () => {});
  }
  await Promise.all(streams.map((stream) => stream.cut()));
}
