import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { resource } from "../definition/define.ts";
import { readEvents, session } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/session_stream: changes on the GET stream");

test("the newest stream of a session has the changes of every instance", async () => {
  const store = memoryStore();
  const watched = resource({ uri: "test://a", name: "a", read: () => "x" });
  const other = resource({ uri: "test://b", name: "b", read: () => "x" });
  const a = newServer({ store, definitions: [watched, other] }).server;
  const b = newServer({ store, definitions: [watched, other] }).server;
  const own = await session(a, {}, b);
  const stream = readEvents(await own.other("GET"));
  assert.is((await stream.next())!.data, "");
  assert.equal((await own.request("resources/subscribe", { uri: "test://a" })).answer.result, {});
  const unknown = await own.request("resources/subscribe", { uri: "test://no" });
  assert.is(unknown.answer.error.code, -32002);
  await a.resourceUpdated("test://b");
  await a.resourceUpdated("test://a");
  assert.equal(await stream.message(), {
    jsonrpc: "2.0",
    method: "notifications/resources/updated",
    params: { uri: "test://a" },
  });
  await a.replace([watched]);
  assert.equal(await stream.message(), { jsonrpc: "2.0", method: "notifications/resources/list_changed" });
  const newer = readEvents(await own.other("GET"));
  await own.request("resources/unsubscribe", { uri: "test://a" });
  await a.resourceUpdated("test://a");
  await a.listChanged("tools");
  await newer.next();
  assert.is((await newer.message()).method, "notifications/tools/list_changed");
  await stream.cancel();
  await newer.cancel();
});

test("changes while no stream is open are sent once after Last-Event-ID", async () => {
  const store = memoryStore();
  const server =
    newServer({ store, definitions: [resource({ uri: "test://a", name: "a", read: () => "x" })] }).server;
  const own = await session(server);
  const stream = readEvents(await own.other("GET"));
  const { id } = (await stream.next())!;
  await stream.cancel();
  await new Promise((resolve) => setTimeout(resolve, 5));
  await server.listChanged("resources");
  await server.listChanged("tools");
  const resumed = readEvents(await own.other("GET", { "last-event-id": id! }));
  await resumed.next();
  assert.is((await resumed.message()).method, "notifications/resources/list_changed");
  assert.is((await resumed.message()).method, "notifications/tools/list_changed");
  await server.listChanged("prompts");
  assert.is((await resumed.message()).method, "notifications/prompts/list_changed");
  await resumed.cancel();
});

test("after changes that have expired, lists and subscribed resources count as changed, once", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const definitions = [resource({ uri: "test://a", name: "a", read: () => "x" })];
  const { server } = newServer({ store, definitions, now: () => now });
  const own = await session(server);
  await own.request("resources/subscribe", { uri: "test://a" });
  const stream = readEvents(await own.other("GET"));
  const first = (await stream.next())!.id!;
  await stream.cancel();
  const resume = async (id: string) => {
    const resumed = readEvents(await own.other("GET", { "last-event-id": id }));
    const begun = await resumed.next();
    await server.listChanged("prompts");
    const received: unknown[] = [];
    let last = begun!.id;
    for (let method = ""; !method.startsWith("notifications/prompts");) {
      const event = (await resumed.next())!;
      ({ method } = JSON.parse(event.data!));
      received.push([method, event.id === id]);
      last = event.id;
    }
    await resumed.cancel();
    return { begun: begun!.id, received, last: last! };
  };
  const PROMPTS = ["notifications/prompts/list_changed", false];
  // Nothing changed while it was away.
  now += 10 * 60_000;
  const unchanged = await resume(first);
  assert.equal([unchanged.begun, unchanged.received], [first, [PROMPTS]]);
  await server.listChanged("resources");
  now += 10 * 60_000;
  const missed = await resume(unchanged.last);
  // One that is lost before the last of them resumes before the gap.
  assert.is(missed.begun, unchanged.last);
  assert.equal(missed.received, [
    ["notifications/resources/list_changed", true],
    ["notifications/resources/updated", false],
    PROMPTS,
  ]);
  assert.equal((await resume(missed.last)).received, [PROMPTS]);
});

test("an event without data has the position of changes that are not for the client, which it then does not miss", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const definitions = [resource({ uri: "test://a", name: "a", read: () => "x" })];
  const { server } = newServer({ store, definitions, now: () => now, keepAlive: 20 });
  const own = await session(server);
  const stream = readEvents(await own.other("GET"));
  const first = (await stream.next())!.id;
  await server.resourceUpdated("test://a");
  const later = (await stream.next())!;
  assert.is(later.data, "");
  assert.is.not(later.id, first);
  await stream.cancel();
  now += 10 * 60_000;
  const resumed = readEvents(await own.other("GET", { "last-event-id": later.id! }));
  await resumed.next();
  await server.listChanged("prompts");
  assert.is((await resumed.message()).method, "notifications/prompts/list_changed");
  await resumed.cancel();
});

test.run();
