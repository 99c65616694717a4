import { suite } from "uvu";
import * as assert from "uvu/assert";
import { JWS_ALGORITHMS, readJws, signJws, verifyJws } from "../../crypto/jws.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { createSigningKeys, type SigningKeys } from "./signing_keys.ts";

const test = suite("oauth/signing_keys");
const DAY = 86_400;

/** Instances on one store, with a settable clock. */
function newKeys(options: { lifetime?: number; notice?: number; tokens?: number } = {}) {
  let at = Date.UTC(2026, 0, 1);
  const now = () => at;
  const store = memoryStore({ now });
  const open = (on: Store = store): SigningKeys =>
    createSigningKeys({
      store: on,
      now,
      signingAlgorithms: ["ES256"],
      signingKeyLifetime: options.lifetime ?? 90 * DAY,
      signingKeyNotice: options.notice ?? DAY,
      maxTokenLifetime: options.tokens ?? 7200,
    });
  return { open, store, advance: (seconds: number) => void (at += seconds * 1000) };
}

/** The store, and the number of its lists. */
function counting(store: Store): { counted: Store; reads: () => number } {
  let reads = 0;
  const counted = Object.assign(Object.create(store), {
    get: store.get.bind(store),
    commit: store.commit.bind(store),
    list: (...args: Parameters<Store["list"]>) => (reads++, store.list(...args)),
  });
  return { counted, reads: () => reads };
}

const published = async (keys: SigningKeys) =>
  (await keys.publish()).keys.map((key) => (key as { kid: string }).kid);

test("the next key is published a day before it signs", async () => {
  const { open, advance } = newKeys();
  const keys = open();
  const first = (await keys.current()).kid;
  assert.equal(await published(keys), [first]);
  advance(89 * DAY - 1);
  assert.equal(await published(keys), [first]);
  advance(2);
  const [, second] = await published(keys);
  assert.ok(second);
  assert.is((await keys.current()).kid, first);
  advance(DAY);
  assert.is((await keys.current()).kid, second);
});

test("an old key stays published until the last token that it signed has expired, and is then removed", async () => {
  const { open, advance } = newKeys({ tokens: 7200 });
  const keys = open();
  const first = await keys.current();
  advance(89 * DAY + 1);
  await keys.publish();
  const last = await signJws(await keys.current(), "at+jwt", { a: 1 });
  assert.is(readJws(last)!.header.kid, first.kid);
  advance(DAY + 7200);
  assert.equal(await verifyJws((await keys.find(first.kid))!, "at+jwt", last), { a: 1 });
  assert.ok((await published(keys)).includes(first.kid));
  advance(3700);
  assert.is(await keys.find(first.kid), undefined);
  assert.not.ok((await published(keys)).includes(first.kid));
});

/** An instance with its own clock. */
const openAt = (store: Store, now: () => number): SigningKeys =>
  createSigningKeys({
    store,
    now,
    signingAlgorithms: ["ES256"],
    signingKeyLifetime: 90 * DAY,
    signingKeyNotice: DAY,
    maxTokenLifetime: 7200,
  });

test("an instance whose clock is behind that of the instance that created the first key signs with that key", async () => {
  for (const behind of [1, 1000, 3600_000]) {
    const { open, store } = newKeys();
    const first = (await open().current()).kid;
    const late = openAt(store, () => Date.UTC(2026, 0, 1) - behind);
    assert.is((await late.current()).kid, first, `${behind} ms behind`);
    assert.equal(await published(late), [first]);
  }
});

test("an instance reads the keys again after its clock is set back", async () => {
  const { open, advance, store } = newKeys();
  let at = Date.UTC(2026, 0, 1) + 3 * 3600_000;
  const keys = openAt(store, () => at);
  await keys.publish();
  at -= 3 * 3600_000;
  advance(89 * DAY + 3 * 3600 + 1);
  const kid = (await published(open())).at(-1)!;
  assert.ok(await keys.find(kid));
});

test("instances agree on each new key", async () => {
  const { open, advance, store } = newKeys();
  const instances = Array.from({ length: 8 }, () => open());
  assert.is(new Set(await Promise.all(instances.map(async (keys) => (await keys.current()).kid))).size, 1);
  advance(89 * DAY + 1);
  await Promise.all(instances.map((keys) => keys.publish()));
  advance(DAY);
  const kids = await Promise.all(instances.map(async (keys) => (await keys.current()).kid));
  assert.is(new Set(kids).size, 1);
  assert.is((await store.list(["signing_key"])).length, 2);
});

test("an instance that was suspended verifies with a key that another instance created", async () => {
  const { open, advance } = newKeys();
  const [running, suspended] = [open(), open()];
  await suspended.current();
  advance(90 * DAY);
  await running.publish();
  advance(DAY);
  const token = await signJws(await running.current(), "at+jwt", { a: 1 });
  const key = await suspended.find(readJws(token)!.header.kid as string);
  assert.equal(await verifyJws(key!, "at+jwt", token), { a: 1 });
});

test("a server that was stopped for a year publishes its next key a day before it signs, and signs with the old key until then", async () => {
  const { open, advance } = newKeys();
  const first = (await open().current()).kid;
  advance(365 * DAY);
  const keys = open();
  assert.is((await keys.current()).kid, first);
  assert.is((await published(keys)).length, 2);
  advance(DAY + 1);
  assert.is.not((await keys.current()).kid, first);
});

test("unknown key ids do not cause a store read each time", async () => {
  const { store, open } = newKeys();
  const { counted, reads } = counting(store);
  const keys = open(counted);
  await keys.current();
  const before = reads();
  for (let i = 0; i < 100; i++) assert.is(await keys.find(`made-up-${i}`), undefined);
  assert.ok(reads() - before <= 1, `${reads() - before} reads`);
});

test("requests at the same time find the key that another instance added a moment ago", async () => {
  const { open, advance, store } = newKeys();
  const { counted, reads } = counting(store);
  const slow = Object.assign(Object.create(counted), {
    list: async (...args: Parameters<Store["list"]>) => {
      const entries = await counted.list(...args);
      await new Promise((resolve) => setTimeout(resolve, 5));
      return entries;
    },
  });
  const keys = open(slow);
  await keys.find("made-up");
  const { kid } = await open().current();
  advance(6);
  const before = reads();
  const found = await Promise.all(Array.from({ length: 5 }, () => keys.find(kid)));
  assert.equal(found.map((key) => key?.kid), Array(5).fill(kid));
  assert.is(reads() - before, 1);
});

test("while the keys cannot be read, a token of an unknown key is not taken for invalid", async () => {
  const { open, advance, store } = newKeys();
  let isDown = false;
  const failing = Object.assign(Object.create(store), {
    list: (...args: Parameters<Store["list"]>) =>
      isDown ? Promise.reject(new StoreUnavailableError("down")) : store.list(...args),
  });
  const keys = open(failing);
  await keys.find("made-up");
  const { kid } = await open().current();
  advance(6);
  isDown = true;
  for (let i = 0; i < 2; i++) {
    assert.instance(await keys.find(kid).catch((error) => error), StoreUnavailableError);
  }
  isDown = false;
  assert.is((await keys.find(kid))?.kid, kid);
});

test("the signing key is read from the store at intervals, not for each token", async () => {
  const { store, open, advance } = newKeys();
  const { counted, reads } = counting(store);
  const keys = open(counted);
  await keys.current();
  const before = reads();
  for (let i = 0; i < 100; i++) await keys.current();
  assert.is(reads(), before);
  advance(DAY);
  await keys.current();
  assert.ok(reads() > before);
});

test("every algorithm has its own key, published before the first token", async () => {
  const store = memoryStore();
  const keys = createSigningKeys({
    store,
    now: Date.now,
    signingAlgorithms: JWS_ALGORITHMS,
    signingKeyLifetime: 90 * DAY,
    signingKeyNotice: DAY,
    maxTokenLifetime: 7200,
  });
  const { keys: all } = await keys.publish() as { keys: { kid: string; alg: string; d?: string }[] };
  assert.equal(all.map(({ alg }) => alg).sort(), [...JWS_ALGORITHMS].sort());
  assert.ok(all.every((key) => !("d" in key) && !("p" in key)));
  for (const alg of JWS_ALGORITHMS) {
    const token = await signJws(await keys.current(alg), "at+jwt", { a: 1 });
    assert.is(readJws(token)!.header.alg, alg);
    assert.equal(await verifyJws((await keys.find(readJws(token)!.header.kid as string))!, "at+jwt", token), {
      a: 1,
    });
  }
  assert.is((await keys.current()).alg, "ES256");
});

test.run();
