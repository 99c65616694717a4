/**
 * Tasks with the official client 2.x. It sends and receives their messages, but rejects the task that is the result of a
 * call, so that the test reads it from the transport.
 *
 * @module
 */
import { Client, StreamableHTTPClientTransport, type Transport } from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import type { RunningServer } from "../../runtime/server.ts";
import { entries } from "../test_entries.ts";
import type { Loose } from "./test_feature_client.ts";
import { NotificationLog, withTimeout } from "./test_notification_log.ts";
import { serveFeatures, STDIO } from "./test_feature_serve.ts";
import { codeOf, textOf } from "./test_feature_step.ts";

const ANY = v.looseObject({});
const TASKS = "io.modelcontextprotocol/tasks";

/** Every entry of this runtime, two instances that take requests in turn, and a process of its own. */
const SERVERS: readonly (readonly [name: string, entry: string | undefined, count: number])[] = [
  ...Object.keys(entries).map((entry) => [entry, entry, 1] as const),
  ["two instances", Object.keys(entries)[0], 2],
  ["stdio", undefined, 1],
];

for (const [where, entry, count] of SERVERS) {
  const test = suite(`tasks of client 2.x, ${where}`);
  let server: RunningServer | undefined;
  let client: Client;
  const notifications = new NotificationLog();

  test.before(async () => {
    server = entry === undefined ? undefined : await serveFeatures(entry, count);
    const transport: Transport = server
      ? new StreamableHTTPClientTransport(new URL(`${server.url}/mcp`))
      : new StdioClientTransport({ ...STDIO, stderr: "inherit" });
    client = new Client({ name: "baker", version: "1" }, {
      capabilities: { elicitation: { form: {} }, extensions: { [TASKS]: {} } },
      versionNegotiation: { mode: { pin: "2026-07-28" } },
    });
    client.fallbackNotificationHandler = (each) =>
      Promise.resolve(notifications.add(each.method, each.params));
    await client.connect(transport);
    const receive = transport.onmessage!.bind(transport);
    transport.onmessage = (message: Loose, extra?: Loose) => {
      if (message.result?.resultType === "task") notifications.add("task", message.result);
      receive(message, extra);
    };
  });
  test.after(async () => {
    await client.close();
    await server?.close();
  });

  const send = (method: string, params: Record<string, unknown>): Promise<Loose> =>
    client.request({ method, params }, ANY);

  /** Calls a tool that answers with a task. */
  const start = async (name: string, args: Record<string, unknown>): Promise<Loose> => {
    const call = client.callTool({ name, arguments: args }).catch((error) => error);
    const task = await notifications.next("task");
    assert.match(String(await call), "task");
    return task;
  };

  /** Waits for the notification that the task has this status. Returns the task. */
  const until = async (taskId: string, status: string): Promise<Loose> => {
    await notifications.next(
      "notifications/tasks",
      (task) => task.taskId === taskId && task.status === status,
    );
    return await send("tasks/get", { taskId });
  };

  test(`${where}: the server has the extension`, () => {
    assert.equal((client.getServerCapabilities() as Loose).extensions[TASKS], {});
  });

  test(`${where}: a task requests input and completes`, async () => {
    const released = { name: "release", arguments: { key: "oven" } };
    const task = await start("bake", { what: "pie" });
    assert.is(task.status, "working");
    assert.is(task.pollIntervalMs, 10);
    assert.ok(task.ttlMs > 0);
    assert.is(Number.isNaN(Date.parse(task.createdAt)), false);
    const { taskId } = task;
    const subscription = await client.listen({ taskIds: [taskId] } as Loose);
    await client.callTool(released);
    const asking = await until(taskId, "input_required");
    assert.is(asking.statusMessage, "heating");
    assert.equal(Object.keys(asking.inputRequests), ["taste"]);
    const { method, params } = asking.inputRequests.taste;
    assert.is(method, "elicitation/create");
    assert.equal(Object.keys(params.requestedSchema.properties), ["sweet"]);
    const sweet = { action: "accept", content: { sweet: true } };
    await send("tasks/update", { taskId, inputResponses: { unknown: sweet } });
    assert.is((await send("tasks/get", { taskId })).status, "input_required");
    await send("tasks/update", { taskId, inputResponses: { taste: sweet } });
    const done = await until(taskId, "completed");
    assert.is(textOf(done.result), "pie: sweet");
    await subscription.close();
  });

  test(`${where}: tasks/cancel aborts the task and is idempotent`, async () => {
    const { taskId } = await start("long_bake", { key: "bread" });
    const subscription = await client.listen({ taskIds: [taskId] } as Loose);
    await send("tasks/cancel", { taskId });
    const aborted = client.callTool({ name: "aborted", arguments: { key: "bread" } });
    assert.is(textOf(await withTimeout(aborted, "the abort of the task's signal")), "AbortError");
    assert.is((await until(taskId, "cancelled")).status, "cancelled");
    await send("tasks/cancel", { taskId });
    await subscription.close();
  });

  test(`${where}: a task completes without input`, async () => {
    const { taskId } = await start("long_bake", { key: "cake" });
    assert.is((await send("tasks/get", { taskId })).status, "working");
    const subscription = await client.listen({ taskIds: [taskId] } as Loose);
    await client.callTool({ name: "release", arguments: { key: "cake" } });
    assert.is(textOf((await until(taskId, "completed")).result), "baked");
    await subscription.close();
  });

  test(`${where}: an unknown task is error -32602`, async () => {
    for (const method of ["tasks/get", "tasks/cancel"]) {
      assert.is(await codeOf(send(method, { taskId: "unknown" })), -32602);
    }
    assert.is(await codeOf(send("tasks/update", { taskId: "unknown", inputResponses: {} })), -32602);
  });

  test(`${where}: the server reports no fault`, async () => {
    assert.is(textOf(await client.callTool({ name: "faults" })), "[]");
  });

  test.run();
}
