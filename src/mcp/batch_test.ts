import { suite } from "uvu";
import * as assert from "uvu/assert";
import { countingStore } from "../store/test_counting_store.ts";
import { tool } from "./definition/define.ts";
import { client, session } from "./test_exchange.ts";
import { newServer, request } from "./test_server.ts";

const test = suite("mcp/batch");
const REVISION = { revision: "2025-03-26" };
const answer = { jsonrpc: "2.0", id: "x", result: 0 };

test("a batch above the limit is refused before the store is read, also a batch of responses", async () => {
  const { store, calls } = countingStore();
  const { server } = newServer({ store, bodyLimit: 4_194_304 });
  const own = await session(server, REVISION);
  const before = calls();
  for (const members of [101, 4_000]) {
    const { status, answer: refused } = await own.send(Array.from({ length: members }, () => answer));
    assert.equal([status, refused.error.code], [400, -32600]);
  }
  assert.ok(calls() - before <= 2, `${calls() - before} store calls for two refused batches`);
  await own.send(Array.from({ length: 100 }, () => answer));
  assert.ok(calls() - before <= 2 + 1 + 100, "one read for each response, and one for the session");
});

/** A tool that counts how many of its calls run concurrently. With `awaited`, a call waits for so many of them. */
function newCounter(awaited = 0) {
  let running = 0;
  let maxRunning = 0;
  const count = tool({
    name: "count",
    description: "Counts concurrent calls",
    async run() {
      maxRunning = Math.max(maxRunning, ++running);
      const late = performance.now() + 5000;
      do await new Promise((resolve) => setTimeout(resolve, 2)); while (
        maxRunning < awaited && performance.now() < late
      );
      running--;
      return "done";
    },
  });
  return { count, maxRunning: () => maxRunning };
}

const calls = Array.from({ length: 5 }, (_, i) => request("tools/call", { name: "count" }, i));

test("messages of a session's batch run sequentially and are answered in order", async () => {
  const { count, maxRunning } = newCounter();
  const { server } = newServer({ definitions: [count] });
  const { answer: answers } = await (await session(server, REVISION)).send(calls);
  assert.equal(answers.map(({ id }: { id: number }) => id), [0, 1, 2, 3, 4]);
  assert.is(maxRunning(), 1);
});

test("messages of a batch without a session run concurrently", async () => {
  const { count, maxRunning } = newCounter(5);
  const { server } = newServer({ definitions: [count] });
  const { answer: answers } = await client(server).send(calls);
  assert.is(answers.length, 5);
  assert.is(maxRunning(), 5);
});

test("JSON with too many values of any type is refused with 413", async () => {
  const { server } = newServer({ bodyLimit: 4_194_304 });
  const many = (count: number, write: (i: number) => string, open = "[", close = "]") =>
    open + Array.from({ length: count }, (_, i) => write(i)).join(",") + close;
  for (
    const params of [
      many(300_000, (i) => `"x${i}":0`, "{", "}"),
      many(300_000, (i) => `{"k${i}":0}`),
      many(1_000_000, () => "{}"),
      many(1_500_000, () => "1"),
      many(400_000, (i) => `"${i}"`),
    ]
  ) {
    const body = `{"jsonrpc":"2.0","id":1,"method":"ping","params":${params}}`;
    const { status, answer } = await client(server).send(body);
    assert.equal([status, answer.error.code], [413, -32600], params.slice(0, 30));
  }
  for (const params of [`["${"x".repeat(4_000_000)}"]`, many(350_000, () => "1")]) {
    const { status } = await client(server).send(
      `{"jsonrpc":"2.0","id":1,"method":"ping","params":{"list":${params}}}`,
    );
    assert.is(status, 200);
  }
});

test.run();
