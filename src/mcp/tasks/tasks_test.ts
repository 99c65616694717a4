import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RpcError } from "../../jsonrpc/error.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { tool } from "../definition/define.ts";
import { ToolError } from "../definition/definition.ts";
import type { ToolServer } from "../service.ts";
import {
  client,
  type Message,
  modern,
  modernHeaders,
  modernParams,
  readEvents,
  session,
} from "../test_exchange.ts";
import { newServer } from "../test_server.ts";
import { ask, callTool, CAPABILITIES, NAME, poll, TASKS } from "./test_tasks.ts";

const test = suite("mcp/tasks");
let release = (): void => {};
let runs = 0;
const definitions = [
  tool({
    name: "waits",
    description: "Waits for its release",
    task: "optional",
    async run(_, call) {
      await call.progress(1, 2, "half way");
      await new Promise<void>((resolve, reject) => {
        release = resolve;
        call.signal.addEventListener("abort", () => reject(call.signal.reason));
      });
      return "released";
    },
  }),
  tool({
    name: "now",
    description: "Returns at once",
    task: { support: "required", ttl: 5000, pollInterval: 10 },
    run: () => "now",
  }),
  tool({
    name: "fails",
    description: "Fails with a ToolError",
    task: "optional",
    run() {
      throw new ToolError("No luck");
    },
  }),
  tool({
    name: "breaks",
    description: "Fails with an RpcError",
    task: "optional",
    run() {
      throw new RpcError(-32603, "Broken");
    },
  }),
  tool({
    name: "asks",
    description: "Sends two concurrent requests",
    task: "optional",
    async run(_, call) {
      runs++;
      const stamp = await call.once("stamp", () => `stamp ${runs}`);
      const [first, second] = await Promise.all([
        call.elicit({ key: "first", message: "First?", schema: NAME }),
        call.elicit({ key: "second", message: "Second?", schema: NAME }),
      ]);
      return `${stamp}: ${first.content?.name} ${second.content?.name}`;
    },
  }),
  tool({
    name: "later",
    description: "Asks, and then becomes a task",
    task: { support: "optional", start: "by_run" },
    async run(_, call) {
      const { action } = await call.elicit({ key: "sure", message: "Sure?", schema: { type: "object" } });
      if (action !== "accept") return "then not";
      const inTask = await call.startTask({ ttl: 60_000, statusMessage: "begun" });
      const { content } = inTask
        ? await call.elicit({ key: "who", message: "Who?", schema: NAME })
        : { content: { name: "unknown" } };
      return `${inTask} ${content?.name}`;
    },
  }),
  tool({
    name: "starts_twice",
    description: "Starts its task twice at once",
    task: { support: "optional", start: "by_run" },
    run: async (_, call) => String(await Promise.all([call.startTask(), call.startTask()])),
  }),
  tool({
    name: "starts_and_ends",
    description: "Starts its task and does not wait",
    task: { support: "optional", start: "by_run" },
    run(_, call) {
      call.startTask();
      return "ended";
    },
  }),
];

function pair(options = {}): [ToolServer, ToolServer] {
  const store = memoryStore();
  return [
    newServer({ store, definitions, ...options }).server,
    newServer({ store, definitions, ...options }).server,
  ];
}

test("the extension is declared if a tool supports tasks", async () => {
  const { server } = newServer({ definitions });
  const { capabilities } = (await modern(server, "server/discover")).answer.result;
  assert.equal(capabilities.extensions, TASKS.extensions);
  assert.is((await ask(newServer().server, "tasks/get", { taskId: "x" })).status, 404);
});

test("a call becomes a task, and another instance returns its status and its result", async () => {
  const [a, b] = pair();
  const { status, answer } = await callTool(a, "waits");
  assert.is(status, 200);
  const { taskId, createdAt, lastUpdatedAt, _meta, ...task } = answer.result;
  assert.equal(task, { resultType: "task", status: "working", ttlMs: 3_600_000, pollIntervalMs: 1000 });
  assert.match(taskId, /^[\w-]{43}$/);
  assert.match(createdAt, /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/);
  assert.is(createdAt, lastUpdatedAt);
  await new Promise((resolve) => setTimeout(resolve, 20));
  const working = await poll(b, taskId, "working");
  assert.is(working.resultType, "complete");
  assert.is(working.statusMessage, "half way");
  assert.not.ok("result" in working || "error" in working || "inputRequests" in working);
  release();
  const completed = await poll(b, taskId, "completed");
  assert.equal(completed.result, { content: [{ type: "text", text: "released" }] });
});

test("ttl and pollInterval of the tool apply; a ToolError completes the task, an RpcError fails it", async () => {
  const { server } = newServer({ definitions });
  const now = (await callTool(server, "now")).answer.result;
  assert.is(now.ttlMs, 5000);
  assert.is(now.pollIntervalMs, 10);
  assert.equal((await poll(server, now.taskId, "completed")).result.content[0].text, "now");
  const fails = (await callTool(server, "fails")).answer.result;
  const failed = await poll(server, fails.taskId, "completed");
  assert.equal(failed.result, { content: [{ type: "text", text: "No luck" }], isError: true });
  const breaks = (await callTool(server, "breaks")).answer.result;
  const broken = await poll(server, breaks.taskId, "failed");
  assert.equal(broken.error, { code: -32603, message: "Broken" });
  assert.is(broken.statusMessage, "Broken");
  assert.not.ok("result" in broken);
});

test("a client without the extension gets the result itself, or -32021 for a required task", async () => {
  const { server } = newServer({ definitions });
  const fails = await callTool(server, "fails", {}, {});
  assert.is(fails.answer.result.resultType, "complete");
  const now = await callTool(server, "now", {}, {});
  assert.is(now.status, 400);
  assert.is(now.answer.error.code, -32021);
  assert.equal(now.answer.error.data, { requiredCapabilities: TASKS });
  for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
    const { status, answer } = await modern(server, method, { taskId: "x" });
    assert.is(status, 400);
    assert.is(answer.error.code, -32021);
  }
  const own = await session(server);
  assert.is((await own.request("tools/call", { name: "now" })).answer.result.content[0].text, "now");
});

test("another instance accepts partial responses to the input requests of a task, then runs the tool", async () => {
  runs = 0;
  const [a, b] = pair();
  const { taskId } = (await callTool(a, "asks")).answer.result;
  const open = await poll(a, taskId, "input_required");
  assert.equal(Object.keys(open.inputRequests), ["first", "second"]);
  assert.equal(open.inputRequests.first.params.requestedSchema, NAME);
  const update = async (inputResponses: unknown) =>
    (await ask(b, "tasks/update", { taskId, inputResponses })).answer;
  const one = await update({ first: { action: "accept", content: { name: "Ann" } }, other: {} });
  assert.equal(Object.keys(one.result).sort(), ["_meta", "resultType"]);
  assert.equal(Object.keys((await poll(a, taskId, "input_required")).inputRequests), ["second"]);
  await update({ first: { action: "accept", content: { name: "Eve" } } });
  assert.is((await update({ second: 7 })).error.code, -32602);
  await update({ second: { action: "accept", content: { name: "Bob" } } });
  const { result } = await poll(a, taskId, "completed");
  assert.is(result.content[0].text, "stamp 1: Ann Bob");
  assert.is(runs, 2);
  assert.ok((await update({ second: { action: "cancel" } })).result, "late responses are ignored");
});

test("input requests before the task are an InputRequiredResult, later ones belong to the task", async () => {
  const { server } = newServer({ definitions });
  const first = (await callTool(server, "later")).answer.result;
  assert.is(first.resultType, "input_required");
  const retry = {
    requestState: first.requestState,
    inputResponses: { sure: { action: "accept", content: {} } },
  };
  const { taskId, statusMessage, resultType } = (await callTool(server, "later", retry)).answer.result;
  assert.is(resultType, "task");
  assert.is(statusMessage, "begun");
  const open = await poll(server, taskId, "input_required");
  assert.equal(Object.keys(open.inputRequests), ["who"]);
  await ask(server, "tasks/update", {
    taskId,
    inputResponses: { who: { action: "accept", content: { name: "Ann" } } },
  });
  assert.is((await poll(server, taskId, "completed")).result.content[0].text, "true Ann");
  const refused =
    (await callTool(server, "later", { ...retry, inputResponses: { sure: { action: "decline" } } })).answer;
  assert.is(refused.result.content[0].text, "then not");
});

for (const [name, text] of [["starts_twice", "true,true"], ["starts_and_ends", "ended"]] as const) {
  test(`${name}: the call becomes one task, which completes`, async () => {
    const store = memoryStore();
    const { server } = newServer({ store, definitions });
    const { taskId, resultType } = (await callTool(server, name)).answer.result;
    assert.is(resultType, "task");
    assert.is((await poll(server, taskId, "completed")).result.content[0].text, text);
    const ids = (await store.list<{ id?: string; tool?: string }>(["mcp"])).filter(({ value }) =>
      value.tool === name
    );
    assert.is(ids.length, 1);
  });
}

test("tasks/cancel on another instance stops the tool, and may be repeated", async () => {
  const [a, b] = pair();
  const { taskId } = (await callTool(a, "waits")).answer.result;
  for (let i = 0; i < 2; i++) {
    const { result } = (await ask(b, "tasks/cancel", { taskId })).answer;
    assert.equal(Object.keys(result).sort(), ["_meta", "resultType"]);
  }
  const cancelled = await poll(a, taskId, "cancelled");
  assert.not.ok("result" in cancelled);
  release();
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.is((await poll(a, taskId, "cancelled")).status, "cancelled");
});

test("an unknown task, another caller's task and an expired task are refused with -32602", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const { server } = newServer({ store, definitions, now: () => now });
  const reader = { authorization: "Bearer reader" };
  const { taskId } =
    (await modern(server, "tools/call", { name: "now" }, { capabilities: TASKS, headers: reader })).answer
      .result;
  const codes = async (taskId: string, headers = {}) => {
    const all = [];
    for (const method of ["tasks/get", "tasks/update", "tasks/cancel"]) {
      all.push((await ask(server, method, { taskId }, headers)).answer.error?.code);
    }
    return all;
  };
  const NO = [-32602, -32602, -32602];
  assert.equal(await codes("made-up"), NO);
  assert.equal(await codes(taskId), NO);
  assert.equal(await codes(taskId, { authorization: "Bearer writer" }), NO);
  assert.equal(await codes(taskId, reader), [undefined, undefined, undefined]);
  now += 5001;
  assert.equal(await codes(taskId, reader), NO);
  const { status, answer } = await ask(server, "tasks/get", { taskId: 7 as never }, { "mcp-name": "7" });
  assert.is(status, 400);
  assert.is(answer.error.code, -32020);
});

test("notifications/tasks contain each change in the format of tasks/get", async () => {
  const [a, b] = pair();
  const { taskId } = (await callTool(a, "asks")).answer.result;
  await poll(a, taskId, "input_required");
  const params = modernParams({ notifications: { taskIds: [taskId, "made-up"] } }, CAPABILITIES);
  const body = { jsonrpc: "2.0", id: 9, method: "subscriptions/listen", params };
  const events = readEvents(await client(b).fetch(body, modernHeaders("subscriptions/listen")));
  assert.equal((await events.message()).params.notifications, { taskIds: [taskId] });
  const content = { name: "Ann" };
  const inputResponses = { first: { action: "accept", content }, second: { action: "accept", content } };
  await ask(a, "tasks/update", { taskId, inputResponses });
  let last: Message;
  do last = await events.message(); while (last.params.status !== "completed");
  assert.is(last.method, "notifications/tasks");
  const { resultType: _, _meta, ...task } = await poll(a, taskId, "completed");
  const { _meta: own, ...shown } = last.params;
  assert.equal(shown, task);
  assert.is(own["io.modelcontextprotocol/subscriptionId"], 9);
  await events.cancel();
});

test.run();
