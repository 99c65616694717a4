import { suite } from "uvu";
import * as assert from "uvu/assert";
import { storeContract } from "../contract/contract.ts";
import { layeredStore } from "./layered.ts";
import { memoryStore } from "./memory.ts";
import { type Key, type Store, StoreUnavailableError } from "../store.ts";
import { loseNextResponse } from "../test_meanwhile.ts";

storeContract("layered over memory", {
  open: async (now) => layeredStore(memoryStore({ now }), { now, lifetime: 5 }),
  rounds: 100,
});

const test = suite("layered store");

/** A store that counts reads of access tokens. */
function counting(inner: Store = memoryStore()): Store & { reads: number } {
  const store = {
    reads: 0,
    guarantees: inner.guarantees,
    get(key: Key) {
      if (key[0] === "access_token") store.reads++;
      return inner.get(key);
    },
    list: inner.list.bind(inner),
    commit: inner.commit.bind(inner),
    watch: inner.watch.bind(inner),
    sweep: inner.sweep.bind(inner),
    close: inner.close.bind(inner),
  };
  return store as Store & { reads: number };
}

const TOKEN: Key = ["access_token", "digest"];
const cached = { cached: true };
const pause = (milliseconds: number) => new Promise((resolve) => setTimeout(resolve, milliseconds));

test("reads with cached are answered from memory, and others are not", async () => {
  const engine = counting();
  const store = layeredStore(engine);
  await store.commit({ set: [{ key: TOKEN, value: 1 }] });
  for (let i = 0; i < 5; i++) assert.is((await store.get(TOKEN, cached))?.value, 1);
  assert.is(engine.reads, 1);
  for (let i = 0; i < 5; i++) await store.get(TOKEN);
  assert.is(engine.reads, 6);
});

test("concurrent reads share one read of the engine, and an absent record is not cached", async () => {
  const engine = counting();
  const store = layeredStore(engine);
  await store.get(TOKEN, cached);
  engine.reads = 0;
  await Promise.all(Array.from({ length: 20 }, () => store.get(TOKEN, cached)));
  assert.ok(engine.reads <= 2, `${engine.reads} reads`);
  await engine.commit({ set: [{ key: TOKEN, value: 1 }] });
  assert.is((await store.get(TOKEN, cached))?.value, 1);
});

test("a cached record is no older than the lifetime and has not expired", async () => {
  let offset = 0;
  const now = () => Date.now() + offset;
  const engine = counting(memoryStore({ now }));
  const store = layeredStore(engine, { lifetime: 40, now });
  await store.commit({ set: [{ key: TOKEN, value: 1, expires: now() + 1000 }] });
  await store.get(TOKEN, cached);
  await pause(60);
  await store.get(TOKEN, cached);
  assert.is(engine.reads, 2);
  offset = 2000;
  assert.is(await store.get(TOKEN, cached), undefined);
});

test("after a removal is acknowledged on one instance, no instance returns the record", async () => {
  const engine = memoryStore();
  const [a, b, c] = [1, 2, 3].map(() => layeredStore(engine, { lifetime: 60 }));
  for (let round = 0; round < 5; round++) {
    const key = ["access_token", `t${round}`];
    await a!.commit({ set: [{ key, value: 1 }] });
    let acknowledged = false;
    let returnedAfter = 0;
    let returned = 0;
    const readers = [a!, b!, c!].map(async (store) => {
      for (let after = 0; after < 30;) {
        const isAfter = acknowledged;
        if (await store.get(key, cached)) isAfter ? returnedAfter++ : returned++;
        if (isAfter) after++;
        await pause(1);
      }
    });
    await pause(10);
    assert.is(await b!.commit({ remove: [key] }), true);
    acknowledged = true;
    await Promise.all(readers);
    assert.ok(returned > 3);
    assert.is(returnedAfter, 0);
  }
});

test("a read that overlaps with a removal is not cached after the acknowledgement", async () => {
  const inner = memoryStore();
  await inner.commit({ set: [{ key: TOKEN, value: 1 }] });
  let release = () => {};
  const slow: Store = {
    ...counting(inner),
    guarantees: inner.guarantees,
    async get<Value>(key: Key) {
      const entry = await inner.get<Value>(key);
      if (key[0] === "access_token") await new Promise<void>((resolve) => release = resolve);
      return entry;
    },
  };
  const reader = layeredStore(slow, { lifetime: 50 });
  const remover = layeredStore(inner, { lifetime: 50 });
  const read = reader.get(TOKEN, cached);
  await pause(5);
  await remover.commit({ remove: [TOKEN] });
  release();
  await read;
  const again = reader.get(TOKEN, cached);
  await pause(5);
  release();
  assert.is(await again, undefined);
});

test("only removals of cached kinds, and changes of clients, wait for other caches", async () => {
  const store = layeredStore(memoryStore(), { lifetime: 30 });
  const see = async (commit: Parameters<Store["commit"]>[0]) => {
    const timers = await countTimers(async () => assert.is(await store.commit(commit), true));
    return timers > 0 ? "waits" : "immediate";
  };
  await store.get(TOKEN, cached);
  assert.is(await see({ set: [{ key: TOKEN, value: 1 }] }), "immediate");
  assert.is(await see({ set: [{ key: ["grant", "g"], value: 1 }] }), "immediate");
  assert.is(await see({ remove: [["session", "s"]] }), "immediate");
  assert.is(await see({ remove: [["grant", "g"]] }), "waits");
  const client = { key: ["client", "c"], value: 1 };
  assert.is(await see({ check: [{ key: client.key, version: null }], set: [client] }), "immediate");
  assert.is(await see({ set: [client] }), "waits");
  const { version } = (await store.get(client.key))!;
  const check = [{ key: client.key, version }];
  assert.is(
    await see({ check, set: [{ ...client, expires: Date.now() + 1e6, isSameValue: true }] }),
    "immediate",
  );
  assert.is(await store.commit({ check: [{ key: TOKEN, version: null }], remove: [TOKEN] }), false);
});

test("after a removal whose response was lost has failed, no instance returns the record", async () => {
  const engine = memoryStore();
  const stores = [1, 2].map(() => layeredStore(engine, { lifetime: 60 }));
  await engine.commit({ set: [{ key: TOKEN, value: 1 }] });
  for (const store of stores) assert.ok(await store.get(TOKEN, cached));
  loseNextResponse(engine, "access_token");
  const error = await stores[0]!.commit({ remove: [TOKEN] }).catch((error) => error);
  assert.instance(error, StoreUnavailableError);
  for (const store of stores) assert.is(await store.get(TOKEN, cached), undefined);
});

test("close() waits for a pending removal", async () => {
  const engine = memoryStore();
  await engine.commit({ set: [{ key: TOKEN, value: 1 }] });
  let left: unknown = "not read";
  const watched = {
    ...counting(engine),
    async close() {
      left = await engine.get(TOKEN);
    },
  };
  const store = layeredStore(watched, { lifetime: 30 });
  const removal = store.commit({ remove: [TOKEN] });
  await store.close();
  assert.is(left, undefined);
  assert.is(await removal, true);
});

/** How many timers the work starts. */
async function countTimers(work: () => Promise<unknown>): Promise<number> {
  const { setTimeout } = globalThis;
  let timers = 0;
  globalThis.setTimeout = ((...args: Parameters<typeof setTimeout>) => {
    timers++;
    return setTimeout(...args);
  }) as typeof setTimeout;
  try {
    await work();
    return timers;
  } finally {
    globalThis.setTimeout = setTimeout;
  }
}

test("an instance without a cache waits for those with one, for the lifetime of the first", async () => {
  const engine = memoryStore();
  const uncached = layeredStore(engine, { lifetime: 0 });
  await uncached.commit({ set: [{ key: TOKEN, value: 1 }] });
  assert.is(
    await countTimers(() => uncached.commit({ remove: [["access_token", "other"]] })),
    0,
    "no instance has a cache yet",
  );
  const caching = layeredStore(engine, { lifetime: 100 });
  const longer = layeredStore(engine, { lifetime: 60_000 });
  await caching.get(TOKEN, cached);
  await longer.get(TOKEN, cached);
  const started = performance.now();
  assert.is(await countTimers(() => uncached.commit({ remove: [TOKEN] })), 1);
  assert.ok(performance.now() - started >= 100);
  assert.is(await longer.get(TOKEN, cached), undefined);
  assert.is(await caching.get(TOKEN, cached), undefined);
});

test("a failed read is not cached", async () => {
  const inner = memoryStore();
  await inner.commit({ set: [{ key: TOKEN, value: 1 }, { key: ["cache_lifetime"], value: 1000 }] });
  let fails = true;
  const store = layeredStore({
    ...counting(inner),
    guarantees: inner.guarantees,
    get: (key) => fails && key[0] === "access_token" ? Promise.reject(new Error("down")) : inner.get(key),
  });
  assert.is(await store.get(TOKEN, cached).catch((error: Error) => error.message), "down");
  fails = false;
  assert.is((await store.get(TOKEN, cached))?.value, 1);
});

test("at most limit records are cached", async () => {
  const engine = counting();
  const store = layeredStore(engine, { limit: 10 });
  for (let i = 0; i < 20; i++) await engine.commit({ set: [{ key: ["access_token", i], value: i }] });
  for (let i = 0; i < 20; i++) await store.get(["access_token", i], cached);
  engine.reads = 0;
  await store.get(["access_token", 19], cached);
  assert.is(engine.reads, 0);
  await store.get(["access_token", 0], cached);
  assert.is(engine.reads, 1);
});

test.run();
