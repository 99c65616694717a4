import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { loseNextResponse } from "../../store/test_meanwhile.ts";
import { until } from "../../test_until.ts";
import { tool } from "../definition/define.ts";
import type { ToolServer } from "../service.ts";
import { newServer } from "../test_server.ts";
import { ask, callTool, NAME, poll } from "./test_tasks.ts";

const test = suite("mcp/tasks/interrupted_tasks");

test("a tool that began its task runs once more, cancelled, when the task is cancelled while it waits", async () => {
  const store = memoryStore();
  const runs: { readonly job: number; readonly isCancelled: boolean }[] = [];
  const [a, b] = [1, 2].map((job) =>
    newServer({
      store,
      definitions: (["by_run", "at_once"] as const).map((start) =>
        tool({
          name: start,
          description: "Begins a job and asks",
          task: { support: "optional", start },
          async run(_, call) {
            await call.startTask();
            runs.push({ job: await call.once("job", () => job), isCancelled: call.signal.aborted });
            return (await call.elicit({ key: "sure", message: "Sure?", schema: NAME })).action;
          },
        })
      ),
    }).server
  ) as [ToolServer, ToolServer];
  for (const name of ["at_once", "by_run"]) {
    const { taskId } = (await callTool(a, name)).answer.result;
    await poll(a, taskId, "input_required");
    for (let i = 0; i < 2; i++) await ask(b, "tasks/cancel", { taskId });
    await poll(a, taskId, "cancelled");
  }
  await until(() => runs.length === 3, "the tool runs once more");
  assert.equal(runs.map(({ job, isCancelled }) => [job, isCancelled]), [[1, false], [1, false], [1, true]]);
});

for (const method of ["tasks/update", "tasks/cancel"]) {
  test(`the tool of a waiting task runs once when the response of the commit of ${method} is lost`, async () => {
    const store = memoryStore();
    const runs: boolean[] = [];
    const asking = tool({
      name: "asking",
      description: "Begins a job and asks",
      task: { support: "optional", start: "by_run" },
      async run(_, call) {
        await call.startTask();
        runs.push(call.signal.aborted);
        return (await call.elicit({ key: "sure", message: "Sure?", schema: NAME })).action;
      },
    });
    const { server } = newServer({ store, definitions: [asking] });
    const { taskId } = (await callTool(server, "asking")).answer.result;
    await poll(server, taskId, "input_required");
    const lost = loseNextResponse(store, "mcp");
    const responses = { inputResponses: { sure: { action: "decline" } } };
    // A client may also repeat it.
    for (let i = 0; i < 2; i++) {
      await ask(server, method, { taskId, ...(method === "tasks/update" && responses) });
    }
    await poll(server, taskId, method === "tasks/update" ? "completed" : "cancelled");
    await until(() => runs.length === 2, "the tool runs again");
    assert.equal([lost.isDone, runs], [true, [false, method === "tasks/cancel"]]);
  });
}

test("a task stays answered when the response of the commit that asked is lost", async () => {
  const store = memoryStore();
  const gate = Promise.withResolvers<void>();
  let runs = 0;
  let lost: ReturnType<typeof loseNextResponse> | undefined;
  const pay = tool({
    name: "pay",
    description: "Asks, then takes a while",
    task: { support: "optional" },
    async run(_, call) {
      if (++runs === 1) lost = loseNextResponse(store, "mcp");
      const { action } = await call.elicit({ key: "sure", message: "Sure?", schema: NAME });
      await gate.promise;
      return action;
    },
  });
  const { server } = newServer({ store, definitions: [pay] });
  const { taskId } = (await callTool(server, "pay")).answer.result;
  await poll(server, taskId, "input_required");
  await ask(server, "tasks/update", { taskId, inputResponses: { sure: { action: "decline" } } });
  assert.is(lost?.isDone, true);
  // The first run commits again after a quarter of a second.
  await new Promise((resolve) => setTimeout(resolve, 1000));
  assert.is((await poll(server, taskId, "working")).inputRequests, undefined);
  gate.resolve();
  assert.is((await poll(server, taskId, "completed")).result.content[0].text, "decline");
  assert.is(runs, 2);
});

test("a task whose instance stopped fails, or runs again with restart", async () => {
  let now = Date.now();
  const options = { now: () => now };
  const store = memoryStore(options);
  const dead = [false, true].map((restart) =>
    tool({
      name: `restart_${restart}`,
      description: "Never ends",
      task: { support: "optional", restart },
      run: () => new Promise(() => {}),
    })
  );
  const alive = [false, true].map((restart) =>
    tool({
      name: `restart_${restart}`,
      description: "Ends",
      task: { support: "optional", restart },
      run: () => "run again",
    })
  );
  const a = newServer({ store, definitions: dead, ...options }).server;
  const b = newServer({ store, definitions: alive, ...options }).server;
  const ids = [];
  for (const name of ["restart_false", "restart_true"]) {
    ids.push((await callTool(a, name)).answer.result.taskId);
  }
  assert.is((await poll(b, ids[0]!, "working")).status, "working");
  now += 80_000;
  const failed = await poll(b, ids[0]!, "failed");
  assert.is(failed.error.code, -32603);
  assert.is(failed.statusMessage, failed.error.message);
  assert.is((await poll(b, ids[1]!, "completed")).result.content[0].text, "run again");
});

test("a run that another instance took over does not end the task", async () => {
  let now = Date.now();
  const options = { now: () => now };
  const store = memoryStore(options);
  const task = { support: "optional", restart: true } as const;
  let isCancelled = false;
  const gate = Promise.withResolvers<void>();
  const [a, b] = [
    tool({
      name: "long",
      description: "Ends when it is cancelled",
      task,
      run: (_, { signal }) =>
        new Promise((_, reject) =>
          signal.addEventListener("abort", () => {
            reject(signal.reason);
            isCancelled = true;
          })
        ),
    }),
    tool({
      name: "long",
      description: "Waits",
      task,
      run: () => gate.promise.then(() => "of the second run"),
    }),
  ].map((definition) => newServer({ store, definitions: [definition], ...options }).server);
  // The first instance renews its lease too late.
  let renew = (): void => {};
  const { setInterval } = globalThis;
  globalThis.setInterval = ((run: () => void) => (renew = run, 0)) as never;
  let taskId: string;
  try {
    ({ taskId } = (await callTool(a!, "long")).answer.result);
  } finally {
    globalThis.setInterval = setInterval;
  }
  now += 80_000;
  await poll(b!, taskId, "working");
  renew();
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.ok(isCancelled);
  assert.is((await poll(a!, taskId, "working")).status, "working");
  gate.resolve();
  assert.is((await poll(a!, taskId, "completed")).result.content[0].text, "of the second run");
});

test.run();
