import { suite } from "uvu";
import * as assert from "uvu/assert";
import { tool } from "../definition/define.ts";
import type { ToolServer } from "../service.ts";
import {
  client,
  from,
  modernHeaders,
  modernParams,
  readEvents,
  readResponse,
  session,
  type SessionClient,
} from "../test_exchange.ts";
import { DEFINITIONS, newServer } from "../test_server.ts";
import { OpenStreams, STREAM_LIMITS } from "./stream_limits.ts";
import { until } from "../../test_until.ts";
import { askingServer, cancellation, toolCall } from "./test_waiting_calls.ts";

const test = suite("mcp/stream_limits");

let release = (): void => {};
const reports = tool({
  name: "reports",
  description: "Reports progress and waits",
  async run(_, { progress }) {
    await progress(1);
    await new Promise<void>((resolve) => release = resolve);
    return "done";
  },
});
const definitions = [...DEFINITIONS, reports];

const listen = (server: ToolServer, headers = {}) =>
  client(server).fetch({
    jsonrpc: "2.0",
    id: 1,
    method: "subscriptions/listen",
    params: modernParams({ notifications: { toolsListChanged: true } }),
  }, { ...modernHeaders("subscriptions/listen"), ...headers });

test("the server knows how many streams are open", async () => {
  const { server } = newServer({ definitions, streamLimits: { network: 3, anonymous: 3 } });
  assert.is(server.openStreams(), 0);
  const { streams } = await fill(() => listen(server));
  assert.is(server.openStreams(), 3);
  await closeAll(streams);
  assert.is(server.openStreams(), 0);
});

test("a stream that is released twice counts once, and one that is refused does not count", () => {
  const streams = new OpenStreams({ ...STREAM_LIMITS, anonymous: 2, session: 1 });
  const caller = { principal: undefined, runtime: undefined };
  const releases = ["a", "b"].map((id) => streams.open(caller, { id }));
  assert.throws(() => streams.open(caller, { id: "a" }));
  assert.throws(() => streams.open(caller, { id: "c" }));
  assert.is(streams.count(), 2);
  releases[0]!();
  releases[0]!();
  assert.is(streams.count(), 1);
  streams.open(caller, { id: "c" });
  assert.throws(() => streams.open(caller, { id: "d" }));
});

/** Opens streams until one is refused. */
async function fill(open: () => Promise<Response>) {
  const streams: Response[] = [];
  for (let i = 0; i < 20; i++) {
    const response = await open();
    if (response.status !== 200) return { streams, refused: await readResponse(response) };
    streams.push(response);
  }
  throw new Error("No stream was refused");
}

async function closeAll(streams: readonly Response[]): Promise<void> {
  for (const { body } of streams) await body!.cancel();
}

function call(own: SessionClient): Promise<Response> {
  return own.fetch({
    jsonrpc: "2.0",
    id: 1,
    method: "tools/call",
    params: { name: "reports", _meta: { progressToken: 1 } },
  });
}

for (const revision of ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"]) {
  test(`${revision}: streams of a session above the limit get 429 with Retry-After, and an ended stream is released`, async () => {
    const { server } = newServer({ definitions, streamLimits: { session: 3 } });
    const own = await session(server, { revision });
    const { streams, refused } = await fill(() => own.other("GET"));
    assert.is(streams.length, 3);
    assert.equal([refused.status, refused.answer.error.code], [429, -32000]);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    assert.is((await own.request("ping")).status, 200);
    const another = await session(server, { revision });
    await closeAll([await another.other("GET"), streams.pop()!]);
    const again = await own.other("GET");
    assert.is(again.status, 200);
    await closeAll([...streams, again]);
  });
}

for (
  const [what, limits, ip, status, code] of [
    ["a network", { network: 3 }, "198.51.100.7", 429, 429],
    ["all anonymous callers", { anonymous: 3 }, "127.0.0.1", 503, 503],
  ] as const
) {
  test(`streams of ${what} above the limit get ${status}; callers with a token are not affected`, async () => {
    const { server } = newServer({ definitions, streamLimits: limits });
    const near = from(server, ip);
    const { streams, refused } = await fill(() => listen(near));
    assert.is(streams.length, 3);
    assert.equal([refused.status, refused.answer.error.code, refused.answer.id], [status, code, 1]);
    assert.ok(Number(refused.headers.get("retry-after")) > 0);
    const own = await session(near);
    const legacy = await own.other("GET");
    assert.equal([legacy.status, legacy.headers.has("retry-after")], [status, true]);
    const reader = await listen(near, { authorization: "Bearer reader" });
    assert.is(reader.status, 200);
    await closeAll([...streams, reader]);
    await closeAll((await fill(() => listen(near))).streams);
  });
}

test("each network has its own limit, and an IPv6 /64 is one network", async () => {
  const { server } = newServer({ definitions, streamLimits: { network: 3 } });
  const addresses = ["2001:4860:1:2::1", "2001:4860:1:2::2"].map((ip) => from(server, ip));
  let i = 0;
  const { streams } = await fill(() => listen(addresses[i++ % 2]!));
  assert.is(streams.length, 3);
  const other = await listen(from(server, "2001:4860:1:3::1"));
  assert.is(other.status, 200);
  await closeAll([...streams, other]);
});

test("a caller with a token has one limit for all sessions", async () => {
  const { server } = newServer({ definitions, streamLimits: { caller: 3 } });
  const headers = { authorization: "Bearer reader" };
  const { streams, refused } = await fill(async () => (await session(server, { headers })).other("GET"));
  assert.equal([streams.length, refused.status], [3, 429]);
  const other = await listen(server, { authorization: "Bearer writer" });
  assert.is(other.status, 200);
  await closeAll([...streams, other]);
});

test("a call that may not open a stream is answered with JSON", async () => {
  const { server } = newServer({ definitions, streamLimits: { session: 1 } });
  const own = await session(server);
  const stream = await own.other("GET");
  const answered = call(own);
  await new Promise((resolve) => setTimeout(resolve, 20));
  release();
  const { headers, answer } = await readResponse(await answered);
  assert.is(headers.get("content-type"), "application/json");
  assert.is(answer.result.content[0].text, "done");
  await closeAll([stream]);
});

test("the stream of a call and a resumed stream count until they end", async () => {
  const { server } = newServer({ definitions, streamLimits: { session: 1 } });
  const own = await session(server);
  const events = readEvents(await call(own));
  const { id } = (await events.next())!;
  assert.is((await own.other("GET")).status, 429);
  await events.cancel();
  const rest = await own.other("GET", { "last-event-id": id! });
  assert.is(rest.status, 200);
  assert.is((await own.other("GET")).status, 429);
  release();
  const all = await readEvents(rest).all();
  assert.is(JSON.parse(all.at(-1)!.data!).result.content[0].text, "done");
  const own2 = await own.other("GET");
  assert.is(own2.status, 200);
  await closeAll([own2]);
});

test("attack: calls that ask, whose client disconnects at once, count until they end", async () => {
  const { server, running } = askingServer({ session: 3 });
  const own = await session(server, { capabilities: { elicitation: {} } });
  const ids: string[] = [];
  for (let id = 1; id <= 10; id++) {
    const events = await own.fetch(toolCall("asks", id));
    if (events.headers.get("content-type") === "application/json") {
      assert.is((await readResponse(events)).answer.error?.code, -32000);
      continue;
    }
    const reader = readEvents(events);
    ids.push((await reader.next())!.id!);
    await reader.cancel();
  }
  assert.equal([ids.length, running(), server.openStreams()], [3, 3, 3]);
  assert.is((await own.other("GET")).status, 429);
  for (let id = 1; id <= 10; id++) await own.send(cancellation(id));
  await until(() => running() === 0 && server.openStreams() === 0);
});

test("one stream at a time resumes a call in its place; others count", async () => {
  const { server, running } = askingServer({ session: 1 });
  const own = await session(server, { capabilities: { elicitation: {} } });
  const events = readEvents(await own.fetch(toolCall("asks", 1)));
  const id = { "last-event-id": (await events.next())!.id! };
  assert.is((await own.other("GET", id)).status, 429);
  await events.cancel();
  for (let i = 0; i < 3; i++) {
    const rest = await own.other("GET", id);
    assert.equal([rest.status, server.openStreams()], [200, 1]);
    assert.is((await own.other("GET", id)).status, 429);
    await rest.body!.cancel();
    await until(() => server.openStreams() === 1);
  }
  const rest = await own.other("GET", id);
  assert.is(rest.status, 200);
  await own.send(cancellation(1));
  await until(() => running() === 0);
  await rest.text();
  await until(() => server.openStreams() === 0);
});

test("a call that disconnects its client counts until it ends", async () => {
  const { server, running } = askingServer({ session: 1 });
  const own = await session(server, { capabilities: { elicitation: {} } });
  const events = readEvents(await own.fetch(toolCall("leaves", 1)));
  assert.is((await events.all()).at(-1)!.retry, 1000);
  assert.equal([running(), server.openStreams()], [1, 1]);
  await own.send(cancellation(1));
  await until(() => running() === 0 && server.openStreams() === 0);
});

test("an invalid filter and the end of a session release their streams", async () => {
  const { server } = newServer({ definitions, streamLimits: { session: 1, anonymous: 1 } });
  for (let i = 0; i < 3; i++) {
    const own = await session(server);
    const stream = await own.other("GET");
    assert.is(stream.status, 200);
    await own.other("DELETE");
    await stream.text();
    const bad = await client(server).send({
      jsonrpc: "2.0",
      id: 1,
      method: "subscriptions/listen",
      params: modernParams({ notifications: { toolsListChanged: 1 } }),
    }, modernHeaders("subscriptions/listen"));
    assert.is(bad.answer.error.code, -32602);
  }
});

test.run();
