import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { countingStore } from "../../store/test_counting_store.ts";
import { losingRaces } from "../../store/test_losing_races.ts";
import { resource, resourceTemplate } from "../definition/define.ts";
import { UNUSED_SUBSCRIPTION_MS, USED_SUBSCRIPTION_MS } from "./session_subscriptions.ts";
import { client, from, readEvents, session, type SessionClient } from "../test_exchange.ts";
import { newServer } from "../test_server.ts";

const test = suite("mcp/session_subscriptions");
const HOUR = 3_600_000;
/** Only documents with a numeric id exist. */
const definitions = [
  resourceTemplate({
    uriTemplate: "doc://{id}",
    name: "doc",
    read: ({ id }) => /^\d+/.test(id!) ? id : undefined,
  }),
  resource({ uri: "test://a", name: "a", read: () => "x" }),
];
const doc = (i: number, length = 0) => `doc://${i}${"x".repeat(length)}`;

const subscribe = (own: SessionClient, uri: string) => own.request("resources/subscribe", { uri });

test("only existing resources can be subscribed to, and nothing is stored for others", async () => {
  const { store, written } = countingStore();
  const { server } = newServer({ store, definitions });
  const own = await session(server);
  const before = written();
  const { status, answer } = await subscribe(own, "doc://none");
  assert.equal([status, answer.error.code], [200, -32002]);
  assert.is(written(), before);
  assert.equal((await subscribe(own, doc(1))).answer.result, {});
  assert.ok(written() > before);
});

test("exists() is called instead of read(), unless middleware guards reads", async () => {
  const called: string[] = [];
  const template = resourceTemplate({
    uriTemplate: "doc://{id}",
    name: "doc",
    exists: ({ id }) => called.push(`exists ${id}`) > 0,
    read: ({ id }) => (called.push(`read ${id}`), id),
  });
  const plain = newServer({ definitions: [template] });
  assert.equal((await subscribe(await session(plain.server), "doc://1")).answer.result, {});
  const guarded = newServer({
    definitions: [template],
    middleware: [({ kind }, _, next) => kind === "resource_template" ? undefined : next()],
  });
  assert.is((await subscribe(await session(guarded.server), "doc://2")).answer.error.code, -32002);
  assert.equal(called, ["exists 1"]);
});

test("each subscription in a batch of 100 writes one record", async () => {
  const { store, written, calls } = countingStore();
  const { server } = newServer({ store, definitions, bodyLimit: 1e6 });
  const own = await session(server, { revision: "2025-03-26" });
  const batch = (from: number) =>
    Array.from({ length: 100 }, (_, i) => ({
      jsonrpc: "2.0",
      id: i,
      method: "resources/subscribe",
      params: { uri: doc(from + i, 300) },
    }));
  for (const from of [1000, 2000]) {
    const before = [written(), calls()] as const;
    const { answer } = await own.send(batch(from));
    if (from === 1000) assert.ok(answer.every(({ result }: { result: unknown }) => result !== undefined));
    const [bytes, count] = [written() - before[0], calls() - before[1]];
    assert.ok(bytes < 3 * JSON.stringify(batch(from)).length, `${bytes} bytes written`);
    assert.ok(count <= 2 + 4 * 100, `${count} store calls`);
  }
});

test("a hundred concurrent subscriptions of one session succeed", async () => {
  const { server } = newServer({ definitions });
  const own = await session(server);
  const uris = Array.from({ length: 100 }, (_, i) => doc(i));
  const answers = await Promise.all(uris.map((uri) => subscribe(own, uri)));
  assert.equal(answers.map(({ status }) => status), uris.map(() => 200));
  const events = readEvents(await own.other("GET"));
  await events.next();
  for (const uri of [uris[0]!, uris[99]!]) {
    await server.resourceUpdated(uri);
    assert.is((await events.message()).params.uri, uri);
  }
  await events.cancel();
});

test("a session that loses every race gets 503 with Retry-After", async () => {
  let loses = false;
  const store = losingRaces(memoryStore(), ({ check = [] }) => loses && check.length > 0);
  const { server } = newServer({ store, definitions });
  const own = await session(server);
  loses = true;
  const { status, headers } = await subscribe(own, doc(1));
  assert.equal([status, headers.get("retry-after")], [503, "1"]);
});

test("the bytes of one session are limited, and unsubscribing and expiry release them", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const { server } = newServer({ store, definitions, now: () => now, sessionLifetime: 24 * HOUR });
  const own = await session(server);
  const statuses = [];
  for (let i = 0; i < 14; i++) statuses.push((await subscribe(own, doc(i, 5000))).status);
  const fit = statuses.indexOf(400);
  assert.ok(fit > 10 && fit < 14, String(statuses));
  assert.is((await subscribe(own, doc(0, 5000))).status, 200, "an existing subscription");
  await own.request("resources/unsubscribe", { uri: doc(0, 5000) });
  assert.is((await subscribe(own, doc(100, 5000))).status, 200);
  assert.is((await subscribe(own, doc(101, 5000))).status, 400);
  now += UNUSED_SUBSCRIPTION_MS + 1;
  assert.is((await subscribe(own, doc(101, 5000))).status, 200);
});

test("a caller with a token has a higher limit and subscriptions for the whole session", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const { server } = newServer({ store, definitions, now: () => now, sessionLifetime: 24 * HOUR });
  const own = await session(server, { headers: { authorization: "Bearer reader" } });
  for (let i = 0; i < 20; i++) assert.is((await subscribe(own, doc(i, 5000))).status, 200);
  now += 23 * HOUR;
  const events = readEvents(await own.other("GET"));
  await events.next();
  await server.resourceUpdated(doc(7, 5000));
  assert.is((await events.message()).params.uri, doc(7, 5000));
  await events.cancel();
});

test("a subscription of an anonymous session expires unless a stream renews it", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const { server } = newServer({ store, definitions, now: () => now, sessionLifetime: 24 * HOUR });
  const isKept = async () => (await store.list(["mcp", "session"])).some(({ value }) => value === "test://a");
  const own = await session(server);
  await subscribe(own, "test://a");
  now += UNUSED_SUBSCRIPTION_MS + 1;
  assert.not.ok(await isKept());
  await subscribe(own, "test://a");
  const events = readEvents(await own.other("GET"));
  await server.resourceUpdated("test://a");
  await events.message();
  await events.cancel();
  now += USED_SUBSCRIPTION_MS - 1000;
  assert.ok(await isKept());
  now += 2000;
  assert.not.ok(await isKept());
});

test("a stream renews the subscriptions of an anonymous session that is short, too", async () => {
  let now = Date.now();
  const store = memoryStore({ now: () => now });
  const { server } = newServer({ store, definitions, now: () => now, sessionLifetime: HOUR });
  const own = await session(server);
  await subscribe(own, "test://a");
  now += UNUSED_SUBSCRIPTION_MS / 3;
  const events = readEvents(await own.other("GET"));
  await events.next();
  await server.resourceUpdated("test://a");
  await events.message();
  await events.cancel();
  now += UNUSED_SUBSCRIPTION_MS;
  assert.ok((await store.list(["mcp", "session"])).some(({ value }) => value === "test://a"));
});

test("the end of a session removes its subscriptions", async () => {
  const store = memoryStore();
  const { server } = newServer({ store, definitions });
  const own = await session(server);
  for (let i = 0; i < 3; i++) await subscribe(own, doc(i));
  assert.is((await own.other("DELETE")).status, 204);
  assert.equal(await store.list(["mcp", "session"]), []);
});

test("the end of one session does not affect others", async () => {
  let verified = 0;
  const sole = soleSecret(new Uint8Array(32).fill(7));
  const secrets = {
    ...sole,
    get accepted() {
      verified++;
      return sole.accepted;
    },
  };
  const { server } = newServer({ definitions, secret: () => secrets });
  const [one, other] = [await session(server), await session(server)];
  await one.other("DELETE");
  const before = verified;
  assert.is((await other.request("ping")).status, 200);
  assert.is(verified, before, "its id is still cached");
  assert.is((await one.request("ping")).status, 404);
});

test("an anonymous network above its storage limit gets 429 with Retry-After; others are not affected", async () => {
  const { server } = newServer({ definitions, storageLimits: { network: 20_000 } });
  const [near, far] = [from(server, "198.51.100.7"), from(server, "198.51.100.8")];
  let refused: Awaited<ReturnType<typeof subscribe>> | undefined;
  for (let i = 0; i < 10 && !refused; i++) {
    const answer = await subscribe(await session(near), doc(i, 4000));
    if (answer.status !== 200) refused = answer;
  }
  assert.is(refused?.status, 429);
  assert.ok(Number(refused!.headers.get("retry-after")) > 0);
  assert.is((await subscribe(await session(far), doc(1, 4000))).status, 200);
  const reader = await session(near, { headers: { authorization: "Bearer reader" } });
  assert.is((await subscribe(reader, doc(1, 4000))).status, 200, "a caller with a token has its own limit");
});

test("anonymous callers without address share a storage limit, then get 503 with Retry-After", async () => {
  const { server } = newServer({ definitions, storageLimits: { anonymous: 5000 } });
  assert.is((await subscribe(await session(server), doc(1, 4000))).status, 200);
  const { status, headers } = await subscribe(await session(server), doc(1, 4000));
  assert.equal([status, headers.has("retry-after")], [503, true]);
  assert.is((await client(server).send({ jsonrpc: "2.0", id: 1, method: "ping" })).status, 200);
});

test.run();
