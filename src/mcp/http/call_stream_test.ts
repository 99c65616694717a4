import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { slowCommits } from "../../store/test_slow_commits.ts";
import { until } from "../../test_until.ts";
import { tool } from "../definition/define.ts";
import { client, readEvents, readResponse, session } from "../test_exchange.ts";
import { newServer, pair } from "../test_server.ts";
import { askingServer, cancellation, timeout, toolCall } from "./test_waiting_calls.ts";

const test = suite("mcp/call_stream");

test("a disconnect cancels a call whose client has no event id to resume by", async () => {
  const { server, running } = askingServer({}, { keepAlive: 10 });
  const own = await session(server, { revision: "2025-06-18" });
  const silent = await own.fetch(toolCall("silent", 1));
  assert.is(running(), 1);
  await silent.body!.cancel();
  await until(() => running() === 0 && server.openStreams() === 0);
});

test("a disconnect cancels a call that may not open a stream", async () => {
  const { server, running } = askingServer({ session: 1 }, { keepAlive: 10 });
  const own = await session(server);
  await own.other("GET");
  const disconnect = new AbortController();
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    "mcp-session-id": own.id,
  };
  const body = JSON.stringify(toolCall("silent", 1));
  const init = { method: "POST", headers, body, signal: disconnect.signal };
  const answered = server.fetch(new Request("http://127.0.0.1:8787/mcp", init));
  await new Promise((resolve) => setTimeout(resolve, 50));
  assert.is(running(), 1);
  disconnect.abort();
  await until(() => running() === 0);
  assert.is(await Promise.race([answered.then(({ status }) => status), timeout()]), 200);
});

for (const limit of [1, 0]) {
  test(`a cancelled call that may not open a stream gets an empty one: limit ${limit}`, async () => {
    const { server, running } = askingServer({ session: limit });
    const own = await session(server);
    if (limit > 0) await own.other("GET");
    const answered = own.fetch(toolCall("silent", 1));
    await until(() => running() === 1);
    assert.is((await own.send(cancellation(1))).status, 202);
    const response = await Promise.race([answered, timeout()]);
    assert.equal(await readEvents(response).all(), []);
    assert.equal([running(), server.openStreams()], [0, limit]);
  });
}

test("a cancelled call ends its stream and is not counted any more, whatever its handler does", async () => {
  let proceed = (): void => {};
  let ended = false;
  const deaf = tool({
    name: "deaf",
    description: "Ignores its cancellation",
    async run(_, call) {
      await call.log("info", 1);
      await new Promise<void>((resolve) => proceed = resolve);
      await call.log("info", 2);
      await call.elicitationCompleted("x");
      await call.disconnect();
      await call.elicit({ message: "?", schema: { type: "object", properties: {} } }).catch(() => {});
      ended = true;
    },
  });
  const [a, b] = pair([deaf], { streamLimits: { session: 1 } });
  for (const canceller of [a, b]) {
    for (const isResumed of [false, true]) {
      ended = false;
      const own = await session(a, { capabilities: { elicitation: {} } });
      let events = readEvents(await own.fetch(toolCall("deaf", 1)));
      const { id } = (await events.next())!;
      assert.is((await events.message()).method, "notifications/message");
      if (isResumed) {
        await events.cancel();
        events = readEvents(await own.other("GET", { "last-event-id": id! }));
        assert.is((await events.message()).method, "notifications/message");
      }
      assert.is(a.openStreams(), 1);
      const { status } = await client(canceller).send(cancellation(1), { "mcp-session-id": own.id });
      assert.is(status, 202);
      assert.is(await Promise.race([events.next(), timeout()]), undefined);
      await until(() => a.openStreams() === 0);
      const next = await own.other("GET");
      assert.is(next.status, 200);
      await next.body!.cancel();
      proceed();
      await until(() => ended);
      assert.is(a.openStreams(), 0);
      const { messages } = await readResponse(await own.other("GET", { "last-event-id": id! }));
      assert.equal(messages.map(({ params }) => params.data), [1]);
    }
  }
});

test("a cancelled call without a stream gets an empty one, whatever its handler does", async () => {
  let running = false;
  const deaf = tool({
    name: "deaf",
    description: "Ignores its cancellation",
    run(_, { signal }) {
      running = !signal.aborted;
      return new Promise(() => {});
    },
  });
  const { server } = newServer({ definitions: [deaf], keepAlive: 50 });
  const own = await session(server);
  const answered = own.fetch(toolCall("deaf", 1));
  await until(() => running);
  await own.send(cancellation(1));
  const { messages } = await Promise.race([answered.then(readResponse), timeout()]);
  assert.equal(messages, []);
  assert.is(server.openStreams(), 0);
});

test("after the end of the stream of a cancelled call no response to its request is accepted", async () => {
  const { server } = askingServer({}, { store: slowCommits(memoryStore(), 50, ({ set }) => !set) });
  const own = await session(server, { capabilities: { elicitation: {} } });
  const events = readEvents(await own.fetch(toolCall("asks", 1)));
  const { id } = await events.message();
  await own.send(cancellation(1));
  await events.all();
  assert.is((await own.send({ jsonrpc: "2.0", id, result: { action: "accept" } })).status, 400);
});

test.run();
