import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { tool } from "../definition/define.ts";
import type { ToolServer } from "../service.ts";
import { client, modernHeaders, modernParams, readEvents } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";
import { callTool, CAPABILITIES, poll } from "./test_tasks.ts";

const test = suite("mcp/tasks/task_listen");

/** Runs with the checks of every 10 seconds each 20 milliseconds. */
async function withFastChecks(run: () => Promise<void>): Promise<void> {
  const { setInterval } = globalThis;
  globalThis.setInterval =
    ((work: () => void, ms: number) => setInterval(work, ms === 10_000 ? 20 : ms)) as never;
  try {
    await run();
  } finally {
    globalThis.setInterval = setInterval;
  }
}

/** Subscribes to tasks. The acknowledgment has come. */
async function listen(server: ToolServer, taskIds: readonly string[]) {
  const params = modernParams({ notifications: { taskIds } }, CAPABILITIES);
  const body = { jsonrpc: "2.0", id: 9, method: "subscriptions/listen", params };
  const events = readEvents(await client(server).fetch(body, modernHeaders("subscriptions/listen")));
  assert.equal((await events.message()).params.notifications, { taskIds });
  return { next: async () => (await events.message()).params.status as string, cancel: events.cancel };
}

const task = { support: "optional", restart: true } as const;
const quick = tool({ name: "quick", description: "Ends at once", task, run: () => "done" });

test("a task whose instance stopped is noticed, also beside one that has ended", async () => {
  let now = Date.now();
  const options = { now: () => now };
  const store = memoryStore(options);
  const [a, b] = [() => new Promise(() => {}), () => "run again"].map((run) =>
    newServer({ store, definitions: [quick, tool({ name: "long", description: "", task, run })], ...options })
      .server
  ) as [ToolServer, ToolServer];
  await withFastChecks(async () => {
    const ended = (await callTool(a, "quick")).answer.result.taskId;
    await poll(a, ended, "completed");
    const { taskId } = (await callTool(a, "long")).answer.result;
    const events = await listen(b, [ended, taskId]);
    assert.is(await events.next(), "completed");
    now += 80_000;
    assert.is(await events.next(), "completed", "of the run at the other instance");
    await events.cancel();
  });
});

const FAULTS: Readonly<Record<string, (store: Store, taskId: string) => void>> = {
  "the store reports no change": (store) => {
    Object.assign(store, { watch: () => new ReadableStream({ start: (controller) => controller.close() }) });
  },
  "a read of the task failed": (store, taskId) => {
    const { get } = store;
    let fails = 1;
    const failing: typeof get = (key, ...rest) =>
      key.includes(taskId) && fails-- > 0
        ? Promise.reject(new StoreUnavailableError("fails once in this test"))
        : get.call(store, key, ...rest) as never;
    Object.assign(store, { get: failing });
  },
};

for (const [name, cause] of Object.entries(FAULTS)) {
  test(`the end of a task is reported although ${name}`, async () => {
    const store = memoryStore();
    const gate = Promise.withResolvers<string>();
    if (name.includes("reports")) cause(store, "");
    const long = tool({ name: "long", description: "Waits", task, run: () => gate.promise });
    const { server } = newServer({ store, definitions: [long] });
    await withFastChecks(async () => {
      const { taskId } = (await callTool(server, "long")).answer.result;
      const events = await listen(server, [taskId]);
      if (!name.includes("reports")) cause(store, taskId);
      gate.resolve("done");
      assert.is(await events.next(), "completed");
      await events.cancel();
    });
  });
}

test.run();
