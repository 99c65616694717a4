import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  compareRecords,
  copyRecords,
  countRecords,
  finishCopy,
  requireFinishedCopy,
  UnfinishedCopyError,
} from "./copy.ts";
import { CURRENT_FORMAT, FORMAT_KEY } from "./format.ts";
import { memoryStore } from "./drivers/memory.ts";
import { type Key, type Put, type Store, StoreUnavailableError } from "./store.ts";
import { loseNextResponse } from "./test_meanwhile.ts";

const test = suite("store/copy");

/** Sets records of kinds with one and many records, small and large, with and without expiry. */
async function fill(store: Store, count: number): Promise<number> {
  const set: Put[] = [
    { key: ["demo"], value: true },
    { key: ["server_secret"], value: new Uint8Array(32).fill(9) },
    { key: [5, "five"], value: null },
    ...Array.from({ length: count }, (_, i) => ({
      key: ["access_token", `t${i}`],
      value: { n: i },
      ...(i % 2 === 0 && { expires: Date.now() + 1e6 + i }),
    })),
    ...Array.from(
      { length: 9 },
      (_, i) => ({ key: ["blob_data", "x", i], value: new Uint8Array(300_000).fill(i) }),
    ),
    { key: ["zz", "ü\u0000"], value: { "": [1, { a: "𝄞" }] } },
  ];
  await store.commit({ set });
  return set.length;
}

const everything = async (store: Store) =>
  (await store.list([], { limit: 1e5 })).map(({ key, value, expires }) => ({ key, value, expires }));

test("copyRecords() copies every record with its value and expiry, and nothing else", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const count = await fill(from, 3000);
  const seen: number[] = [];
  assert.is(await countRecords(from), count);
  assert.equal(await copyRecords(from, to, (done) => seen.push(done)), { copied: count, before: 0 });
  assert.is(seen.at(-1), count);
  const { same, digest, differences } = await compareRecords(from, to);
  assert.equal([same, differences], [count, []]);
  assert.match(digest, /^[0-9a-f]{64}$/);
  await finishCopy(to);
  assert.equal(await everything(to), await everything(from));
  // The digest depends on the records only, so copies of one store have the same.
  assert.is((await compareRecords(to, from)).digest, digest);
});

test("the format record is copied but not counted, and a store with only this record is empty", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  await from.commit({ set: [{ key: FORMAT_KEY, value: { version: "of the source" } }] });
  await to.commit({ set: [{ key: FORMAT_KEY, value: { version: "of the target" } }] });
  const count = await fill(from, 20);
  assert.is(await countRecords(from), count);
  assert.is((await copyRecords(from, to)).copied, count);
  const { same, differences } = await compareRecords(from, to);
  assert.equal([same, differences], [count, []]);
  assert.equal((await to.get(FORMAT_KEY))?.value, { version: "of the source" });
});

test("the copy of a store without a format record counts as one of an early version, also while it is made", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  await to.commit({ set: [{ key: FORMAT_KEY, value: CURRENT_FORMAT }] });
  const count = await fill(from, 20);
  await copyRecords(from, to, (done) => {
    if (done < count) return;
    throw new Error("interrupted");
  }).catch(() => {});
  assert.equal((await to.get(FORMAT_KEY))?.value, { version: 1 });
  await copyRecords(from, to);
  assert.equal((await to.get(FORMAT_KEY))?.value, { version: 1 });
});

test("an empty store can be copied", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  assert.equal(await copyRecords(from, to), { copied: 0, before: 0 });
  assert.equal((await compareRecords(from, to)).differences, []);
});

test("a copy that was interrupted at any commit resumes there and copies no record twice", async () => {
  const from = memoryStore();
  const count = await fill(from, 500);
  let interruptions = 0;
  for (;; interruptions++) {
    const to = memoryStore();
    let commits = 0;
    const failing: Store = {
      guarantees: to.guarantees,
      get: (key) => to.get(key),
      list: (prefix, options) => to.list(prefix, options),
      commit: (commit) =>
        commits++ === interruptions ? Promise.reject(new StoreUnavailableError("gone")) : to.commit(commit),
      watch: (prefix) => to.watch(prefix),
      sweep: () => to.sweep(),
      close: () => to.close(),
    };
    const failed = await copyRecords(from, failing).catch((error: Error) => error);
    if (!(failed instanceof Error)) break;
    assert.instance(failed, StoreUnavailableError);
    const present = await countRecords(to);
    const { copied, before } = await copyRecords(from, to);
    assert.equal([before, copied], [present, count - present]);
    assert.equal((await compareRecords(from, to)).differences, []);
  }
  assert.ok(interruptions > 8, `${interruptions} commits`);
});

test("a copy ends also when the response of its last commit is lost", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  await fill(from, 5);
  await copyRecords(from, to);
  const lost = loseNextResponse(to, "migration");
  await finishCopy(to);
  assert.ok(lost.isDone);
  assert.equal(await everything(to), await everything(from));
});

test("a copy of one source does not go on with another, and an interrupted copy is no store", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const count = await fill(from, 20);
  await requireFinishedCopy(to);
  await copyRecords(from, to, () => {
    throw new Error("interrupted");
  }, "one").catch(() => {});
  const present = await countRecords(to);
  assert.ok(0 < present && present < count);
  for (const other of ["two", undefined]) {
    assert.instance(await copyRecords(from, to, undefined, other).catch((error) => error), Error);
  }
  assert.is(await countRecords(to), present);
  assert.instance(await requireFinishedCopy(to).catch((error) => error), UnfinishedCopyError);
  assert.equal(await copyRecords(from, to, undefined, "one"), { copied: count - present, before: present });
  await finishCopy(to);
  await requireFinishedCopy(to);
});

test("a target with other records is refused and not changed", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  await fill(from, 5);
  await to.commit({ set: [{ key: ["client", "a"], value: 1 }] });
  const error = await copyRecords(from, to).catch((error: Error) => error) as Error;
  assert.instance(error, Error);
  assert.equal((await to.list([])).map(({ key, value }) => [key, value]), [[["client", "a"], 1]]);
  assert.is(await countRecords(to), 1);
});

test("compareRecords() uses the clocks of the stores: a record that is live by them is a difference", async () => {
  // An hour behind the clock of this machine.
  const now = () => Date.now() - 3_600_000;
  const open = () => Object.assign(memoryStore({ now }), { now });
  const [from, to] = [open(), open()];
  const set = [
    { key: ["access_token", "live"], value: 1, expires: now() + 1_800_000 },
    { key: ["access_token", "expires now"], value: 1, expires: now() + 5000 },
  ];
  await from.commit({ set });
  assert.equal((await compareRecords(from, to)).differences, [["access_token", "live"]]);
});

test("compareRecords() finds missing, changed and extra records and other expiries, and repair makes the stores equal", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  const count = await fill(from, 100);
  await copyRecords(from, to);
  const late = Date.now() + 5e6;
  await to.commit({
    remove: [["access_token", "t7"]],
    set: [
      { key: ["access_token", "t8"], value: { n: 8 }, expires: late },
      { key: ["access_token", "t9"], value: { n: "changed" } },
      { key: ["blob_data", "x", 3], value: new Uint8Array(300_000) },
      { key: ["left", "over"], value: 1 },
    ],
  });
  const expected: Key[] = [
    ["access_token", "t7"],
    ["access_token", "t8"],
    ["access_token", "t9"],
    ["blob_data", "x", 3],
    ["left", "over"],
  ];
  const found = await compareRecords(from, to);
  assert.equal(found.differences, expected);
  assert.is(found.same, count - 4);
  await compareRecords(from, to, { repair: true });
  assert.equal(await compareRecords(from, to).then(({ same, differences }) => [same, differences]), [
    count,
    [],
  ]);
});

test("a record that expires soon is not a difference", async () => {
  const [from, to] = [memoryStore(), memoryStore()];
  await from.commit({ set: [{ key: ["t"], value: 1, expires: Date.now() + 2000 }] });
  assert.equal((await compareRecords(from, to)).differences, []);
});

test.run();
