import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { resource, tool } from "../definition/define.ts";
import type { ToolServer } from "../service.ts";
import { readEvents, session } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/session_stream: resuming");

const DEFINITIONS = [
  resource({ uri: "test://a", name: "a", read: () => "a" }),
  tool({ name: "say", description: "Logs a message", run: (_, call) => call.log("error", "first") }),
  tool({
    name: "hang",
    description: "Runs until it is cancelled",
    async run(_, call) {
      await call.log("error", "began");
      await new Promise((resolve) => call.signal.addEventListener("abort", resolve));
    },
  }),
];
const call = (name: string) => ({ jsonrpc: "2.0", id: 5, method: "tools/call", params: { name } });

function pair(): [ToolServer, ToolServer] {
  const store = memoryStore();
  const newOne = () => newServer({ store, definitions: DEFINITIONS }).server;
  return [newOne(), newOne()];
}

test("another instance returns the rest of an answered call's stream, or 204 at its end", async () => {
  const [a, b] = pair();
  const { fetch, other } = await session(a, {}, b);
  const events = await readEvents(await fetch(call("say"))).all();
  const ids = events.map(({ id }) => id!);
  assert.is(events.length, 3, "an event with only an id, a log message, the response");
  const rest = await readEvents(await other("GET", { "last-event-id": ids[1]! })).all();
  assert.is(rest[0]!.id, ids[1], "the first event repeats the id for the next resumption");
  assert.equal(rest.slice(1), events.slice(2));
  const ended = await other("GET", { "last-event-id": ids[2]! });
  assert.is(ended.status, 204);
  assert.is(ended.body, null);
});

test("resuming the stream of a cancelled call gets 204", async () => {
  const [a, b] = pair();
  const { fetch, send, other } = await session(a, {}, b);
  const events = readEvents(await fetch(call("hang")));
  assert.is((await events.message()).params.data, "began");
  await send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } });
  assert.is(await events.next(), undefined);
  assert.is((await other("GET", { "last-event-id": "AAAAAAAAAAAAAAAAAAAAAA.1" })).status, 204, "unknown");
});

test("a stream that is resumed at another instance ends when the call is cancelled", async () => {
  const [a, b] = pair();
  const { fetch, send, other } = await session(a, {}, b);
  const events = readEvents(await fetch(call("hang")));
  const { id } = (await events.next())!;
  await events.message();
  await events.cancel();
  const resumed = readEvents(await other("GET", { "last-event-id": id! }));
  assert.is((await resumed.message()).params.data, "began");
  await send({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId: 5 } });
  assert.is(await resumed.next(), undefined);
  const last = id!.replace(/\d+$/, "1");
  assert.is((await other("GET", { "last-event-id": last })).status, 204);
});

test("the newest stream of a session is active, and the other after its end", async () => {
  const [a, b] = pair();
  const { send, other } = await session(a, {}, a);
  await send({ jsonrpc: "2.0", id: 1, method: "resources/subscribe", params: { uri: "test://a" } });
  const older = readEvents(await other("GET"));
  await older.next();
  const newer = readEvents(await other("GET"));
  await newer.next();
  await b.resourceUpdated("test://a");
  assert.is((await newer.message()).method, "notifications/resources/updated");
  await newer.cancel();
  // A message shows that the stream is active.
  const next = older.message();
  let isActive = false;
  next.then(() => isActive = true);
  while (!isActive) {
    await b.listChanged("tools");
    await new Promise((resolve) => setTimeout(resolve, 5));
  }
  assert.is((await next).method, "notifications/tools/list_changed", "not the message of the newer stream");
  await older.cancel();
});

test("the end of a session ends its streams on every instance", async () => {
  const [a, b] = pair();
  const here = await session(a, {}, b);
  const events = readEvents(await here.other("GET"));
  await events.next();
  const client = await session(a);
  const others = readEvents(await client.other("GET"));
  await others.next();
  const ended = await a.fetch(
    new Request("http://127.0.0.1:8787/mcp", { method: "DELETE", headers: { "mcp-session-id": here.id } }),
  );
  assert.is(ended.status, 204);
  assert.is(await events.next(), undefined);
  await a.listChanged("tools");
  assert.is(
    (await others.message()).method,
    "notifications/tools/list_changed",
    "the stream of another session continues",
  );
  await others.cancel();
});

test("streams begin at once, also in revisions without empty events", async () => {
  const { server } = newServer({ definitions: DEFINITIONS });
  const { other } = await session(server, { revision: "2025-06-18" });
  const response = await other("GET");
  const reader = response.body!.getReader();
  const { value } = await reader.read();
  assert.is(new TextDecoder().decode(value), ":\n\n");
  await reader.cancel();
});

test("streams of a session end when it expires", async () => {
  let now = Date.now();
  const options = { definitions: DEFINITIONS, sessionLifetime: 1000, keepAlive: 10, now: () => now };
  const { server } = newServer(options);
  const { fetch, request, other } = await session(server);
  const events = readEvents(await fetch(call("hang")));
  const { id } = (await events.next())!;
  await events.cancel();
  const streams = [await other("GET"), await other("GET", { "last-event-id": id! })];
  now += 1001;
  assert.is((await request("ping")).status, 404);
  const late = new Promise((_, reject) => setTimeout(() => reject(new Error("Still open")), 3000));
  for (const stream of streams) await Promise.race([stream.text(), late]);
  await server.stopCalls();
});

test.run();
