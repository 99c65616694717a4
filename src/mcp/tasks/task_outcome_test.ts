import { suite } from "uvu";
import * as assert from "uvu/assert";
import { RpcError } from "../../jsonrpc/error.ts";
import { tool } from "../definition/define.ts";
import { type Message, modern } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/task_outcome");
const TASKS = { capabilities: { extensions: { "io.modelcontextprotocol/tasks": {} } } };

/** Runs a tool as a task and returns the ended task. */
async function runTask(run: () => unknown): Promise<{ task: Message; faults: number }> {
  const { server, events } = newServer({
    definitions: [tool({ name: "odd", description: "d", task: "optional", run })],
  });
  const { taskId } = (await modern(server, "tools/call", { name: "odd" }, TASKS)).answer.result;
  for (let i = 0; i < 200; i++) {
    const task = (await modern(server, "tasks/get", { taskId }, TASKS)).answer.result;
    if (task && task.status !== "working") {
      return { task, faults: events.filter(({ type }) => type === "fault").length };
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("The task did not end");
}

test("a result without a JSON representation fails the task and is reported as a fault", async () => {
  const { task, faults } = await runTask(() => ({ content: [], _meta: { of: 1n } }));
  assert.equal([task.status, task.error.code, faults], ["failed", -32603, 1]);
});

test("an error keeps its code with any data", async () => {
  const fail = (data: unknown) => () => {
    throw new RpcError(7, "No", data);
  };
  assert.equal((await runTask(fail(1n))).task.error, { code: 7, message: "No" });
  assert.equal((await runTask(fail({ a: 1 }))).task.error, { code: 7, message: "No", data: { a: 1 } });
});

for (const wrong of [{ ttl: NaN }, { ttl: Infinity }, { ttl: -1 }, { ttl: 1e16 }, { pollInterval: 0.5 }]) {
  test(`invalid times are refused: ${Object.entries(wrong)}`, async () => {
    const define = (task: object) =>
      newServer({
        definitions: [tool({
          name: "odd",
          description: "d",
          task: { support: "optional", start: "by_run", ...task },
          run: async (_, call) => String(await call.startTask(wrong)),
        })],
      });
    assert.throws(() => define(wrong), (error: Error) => error instanceof TypeError);
    const { server, events } = define({});
    const { result } = (await modern(server, "tools/call", { name: "odd" }, TASKS)).answer;
    assert.is(result.isError, true);
    assert.is(events.filter(({ type }) => type === "fault").length, 1);
  });
}

test.run();
