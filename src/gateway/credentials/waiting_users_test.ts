import { suite } from "uvu";
import * as assert from "uvu/assert";
import { connectionKey, CONNECTIONS } from "../../oauth/connection_records.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Key, Store } from "../../store/store.ts";
import { until } from "../../test_until.ts";
import { createWaitingUsers } from "./waiting_users.ts";

const test = suite("gateway/credentials/waiting_users");

/** Users of a store, with the calls so far; `next` resolves with the next call. */
function newWaiting(store: Store) {
  const calls: string[] = [];
  let wake = Promise.withResolvers<string>();
  const users = createWaitingUsers(store, (upstream, user) => {
    calls.push(`${user} ${upstream}`);
    wake.resolve(calls.at(-1)!);
    wake = Promise.withResolvers();
  }, (error) => calls.push(String(error)));
  return { users, calls, next: () => wake.promise };
}

const connect = (store: Store, user: string, upstream: string) =>
  store.commit({ set: [{ key: connectionKey(user, upstream), value: { connected: 1 } }] });

test("a user who waits is reported once, when the connection is there, and no other", async () => {
  const store = memoryStore();
  const { users, calls, next } = newWaiting(store);
  users.add("up", "alice");
  users.add("up", "carol");
  await connect(store, "bob", "up");
  await connect(store, "alice", "other");
  let called = next();
  await connect(store, "alice", "up");
  assert.is(await called, "alice up");
  // A refresh of the tokens is no new connection.
  await connect(store, "alice", "up");
  called = next();
  await connect(store, "carol", "up");
  assert.is(await called, "carol up");
  assert.equal(calls, ["alice up", "carol up"]);
  users.close();
});

test("after the store may have missed changes, all who wait are looked up", async () => {
  const store = memoryStore();
  let notify: ReadableStreamDefaultController<readonly Key[]> | undefined;
  const watch = () =>
    new ReadableStream<readonly Key[]>({ start: (controller) => void (notify = controller) });
  const { users, calls, next } = newWaiting(Object.assign(store, { watch }));
  users.add("up", "alice");
  users.add("up", "carol");
  await connect(store, "carol", "up");
  const called = next();
  notify!.enqueue([CONNECTIONS]);
  assert.is(await called, "carol up");
  assert.equal(calls, ["carol up"]);
  users.close();
});

test("a connection of an earlier upstream with the name is none", async () => {
  const store = memoryStore();
  const { users, calls, next } = newWaiting(store);
  const urls = { up: "https://up.example/mcp", old: "https://old.example/mcp" };
  const connectTo = (user: string, url: string) =>
    store.commit({ set: [{ key: connectionKey(user, "up"), value: { url } }] });
  users.add("up", "alice", urls.up);
  users.add("up", "carol", urls.up);
  await connectTo("alice", urls.old);
  const called = next();
  await connectTo("carol", urls.up);
  assert.is(await called, "carol up");
  assert.equal(calls, ["carol up"]);
  users.close();
});

test("the watch begins again after a fault, and nothing is watched before a user waits", async () => {
  const store = memoryStore();
  const original = store.watch.bind(store);
  let watched = 0;
  const watch = (prefix: Key) => {
    if (++watched > 1) return original(prefix);
    return new ReadableStream<readonly Key[]>({ start: (controller) => controller.error(new Error("lost")) });
  };
  const { users, calls, next } = newWaiting(Object.assign(store, { watch }));
  assert.is(watched, 0);
  users.add("up", "alice");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(calls, ["Error: lost"]);
  users.add("up", "carol");
  const called = next();
  await connect(store, "carol", "up");
  assert.is(await called, "carol up");
  users.close();
});

test("an error of the store ends neither the watch nor the wait of others", async () => {
  const store = memoryStore();
  const [get, watch] = [store.get.bind(store), store.watch.bind(store)];
  let isDown = false;
  let watched = 0;
  const { users, calls, next } = newWaiting(Object.assign(store, {
    get: (key: Key) => isDown ? Promise.reject(new Error("down")) : get(key),
    watch: (prefix: Key) => (watched++, watch(prefix)),
  }));
  users.add("up", "alice");
  users.add("up", "carol");
  isDown = true;
  await connect(store, "alice", "up");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.equal(calls, ["Error: down"]);
  isDown = false;
  let called = next();
  await connect(store, "carol", "up");
  assert.is(await called, "carol up");
  called = next();
  await connect(store, "alice", "up");
  assert.is(await called, "alice up");
  assert.is(watched, 1);
  users.close();
});

test("thousands who wait are not looked up for each commit of a store that is polled", async () => {
  const store = memoryStore();
  let notify: ReadableStreamDefaultController<readonly Key[]> | undefined;
  const watch = () =>
    new ReadableStream<readonly Key[]>({ start: (controller) => void (notify = controller) });
  const get = store.get.bind(store);
  let reads = 0;
  let isDown = false;
  const { users, calls } = newWaiting(Object.assign(store, {
    watch,
    async get(key: Key) {
      if (++reads % 100 === 0) await new Promise((resolve) => setTimeout(resolve, 1));
      if (isDown) throw new Error("down");
      return await get(key);
    },
  }));
  for (let i = 0; i < 2000; i++) users.add("up", `user ${i}`);
  for (let i = 0; i < 50; i++) {
    notify!.enqueue([CONNECTIONS]);
    await new Promise((resolve) => setTimeout(resolve, 2));
  }
  await connect(store, "user 7", "up");
  await connect(store, "user 8", "up");
  // One that is named is not held back.
  notify!.enqueue([connectionKey("user 7", "up")]);
  notify!.enqueue([CONNECTIONS]);
  await until(() => calls.includes("user 7 up"));
  assert.ok(reads <= 6000, `${reads} reads`);
  // Nobody is forgotten, and an outage is reported once for all.
  isDown = true;
  await until(() => calls.includes("Error: down") || calls.includes("user 8 up"));
  isDown = false;
  await until(() => calls.includes("user 8 up"));
  assert.ok(calls.length <= 3, calls.join());
  users.close();
});

test("a watch that fails is cancelled", async () => {
  const store = memoryStore();
  let isCancelled = false;
  const reader = {
    read: () => Promise.reject(new Error("lost")),
    cancel: async () => void (isCancelled = true),
  };
  const { users } = newWaiting(Object.assign(store, { watch: () => ({ getReader: () => reader }) as never }));
  users.add("up", "alice");
  await new Promise((resolve) => setTimeout(resolve, 0));
  assert.ok(isCancelled);
  users.close();
});

test.run();
