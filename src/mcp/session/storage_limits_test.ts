import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { tool } from "../definition/define.ts";
import type { ToolServer } from "../service.ts";
import { from, type Message, modern, readEvents, session } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/storage_limits");
const ADDRESS = "198.51.100.7";
const TASKS = { extensions: { "io.modelcontextprotocol/tasks": {} } };
const definitions = [
  tool({
    name: "repeats",
    description: "Repeats a text",
    input: { type: "object", properties: { text: { type: "string" }, times: { type: "number" } } },
    task: "required",
    run: ({ text, times }) => (text as string).repeat(times as number),
  }),
  tool({
    name: "streams",
    description: "Reports progress with a text, ten times",
    async run(_, { progress }) {
      for (let i = 1; i <= 10; i++) await progress(i, 10, "x".repeat(1000));
      return "done";
    },
  }),
];

const start = (server: ToolServer, length: number, times = 1, headers = {}) =>
  modern(server, "tools/call", { name: "repeats", arguments: { text: "x".repeat(length), times } }, {
    capabilities: TASKS,
    headers,
  });

async function waitForEnd(server: ToolServer, taskId: string): Promise<Message> {
  for (let i = 0; i < 200; i++) {
    const { result } = (await modern(server, "tasks/get", { taskId }, { capabilities: TASKS })).answer;
    if (result.status !== "working") return result;
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  throw new Error("The task did not end");
}

test("a task above the storage limit of its network gets 429 and is not stored", async () => {
  const store = memoryStore();
  const { server } = newServer({
    store,
    definitions,
    bodyLimit: 100_000,
    storageLimits: { network: 30_000 },
  });
  const near = from(server, ADDRESS);
  assert.is((await start(near, 20_000, 0)).status, 200);
  const tasks = (await store.list(["mcp", "task"])).length;
  const { status, headers, answer } = await start(near, 20_000, 0);
  assert.equal([status, answer.error.code, headers.has("retry-after")], [429, 429, true]);
  assert.is((await store.list(["mcp", "task"])).length, tasks);
  assert.is((await start(from(server, "198.51.100.8"), 20_000, 0)).status, 200);
  assert.is((await start(near, 20_000, 0, { authorization: "Bearer reader" })).status, 200);
});

test("a result beyond the storage limit fails the task", async () => {
  const { server } = newServer({ definitions, storageLimits: { network: 30_000 } });
  const near = from(server, ADDRESS);
  const fits = (await start(near, 10, 100)).answer.result.taskId;
  assert.is((await waitForEnd(near, fits)).status, "completed");
  const large = (await start(near, 10, 10_000)).answer.result.taskId;
  const ended = await waitForEnd(near, large);
  assert.equal([ended.status, ended.error.code], ["failed", -32000]);
});

test("a stream above the storage limit continues without event ids and cannot be resumed", async () => {
  const store = memoryStore();
  const { server } = newServer({ store, definitions, storageLimits: { network: 5000 } });
  const own = await session(from(server, ADDRESS));
  const events = await readEvents(
    await own.fetch({
      jsonrpc: "2.0",
      id: 7,
      method: "tools/call",
      params: { name: "streams", _meta: { progressToken: 1 } },
    }),
  ).all();
  const messages = events.filter(({ data }) => data).map(({ data }) => JSON.parse(data!));
  assert.is(messages.length, 11);
  assert.is(messages.at(-1).result.content[0].text, "done");
  const ids = events.flatMap(({ id }) => id ?? []);
  assert.ok(ids.length > 2 && ids.length < 8, `${ids.length} of 12 have ids`);
  const kept = JSON.stringify(await store.list(["mcp", "event"], { limit: 1000 })).length;
  assert.ok(kept < 6000, `${kept} bytes stored`);
  const rest = await readEvents(await own.other("GET", { "last-event-id": ids.at(-1)! })).all();
  const [lost] = rest.filter(({ data }) => data).map(({ data }) => JSON.parse(data!));
  assert.equal([lost.id, lost.error.code], [7, -32603]);
});

test("the end of a session above the storage limit gets 429", async () => {
  const { server } = newServer({ definitions, storageLimits: { network: 2000 } });
  const near = from(server, ADDRESS);
  const statuses = [];
  for (let i = 0; i < 10; i++) statuses.push((await (await session(near)).other("DELETE")).status);
  assert.equal([statuses[0], statuses.at(-1)], [204, 429]);
});

test.run();
