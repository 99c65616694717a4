/**
 * The ledger while others publish, delete and collect at the same time.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { removeSkill } from "../publishing/remove.ts";
import { createLedger } from "./blob_ledger.ts";
import type { BlobStore } from "./blob_store.ts";
import { add, checkBlobs, HOUR, newBlobStore } from "./test_blob_ledger.ts";

const test = suite("skills/blobs/blob_ledger_races");

test("an upload whose objects were collected is repeated", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  let collected = false;
  const slow: BlobStore = {
    ...blobs,
    async put(...all) {
      await blobs.put(...all);
      if (collected) return;
      collected = true;
      await createLedger(store, () => Date.now() + 2 * HOUR, blobs).collect();
    },
  };
  const ledger = createLedger(store, Date.now, slow);
  await add(ledger, "slow", "a");
  await ledger.collect();
  assert.is(await checkBlobs(store, ledger, objects), 1);
});

/**
 * A store that calls one of `meanwhile` before each commit that writes or removes a skill, in their order, and what that
 * resolves to after the commit.
 */
function interrupted(store: Store, ...meanwhile: (() => Promise<unknown>)[]): Store {
  return {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    async commit(commit) {
      const keys = [...(commit.set ?? []).map((put) => put.key), ...commit.remove ?? []];
      const next = keys.some((key) => key[0] === "skill") ? meanwhile.shift() : undefined;
      const after = await next?.();
      const done = await store.commit(commit);
      if (typeof after === "function") await after();
      return done;
    },
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
}

test("an upload whose objects are collected just before its commit is repeated", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const late = createLedger(store, () => Date.now() + 2 * HOUR, blobs);
  const ledger = createLedger(interrupted(store, () => late.collect()), Date.now, blobs);
  await add(ledger, "late", "a");
  await late.collect();
  assert.is(await checkBlobs(store, ledger, objects), 1);
});

test("content is kept if its last skill is deleted just before the commit of a new one", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const other = createLedger(store, Date.now, blobs);
  const { id } = await add(other, "goes", "shared");
  const ledger = createLedger(interrupted(store, () => removeSkill(store, other, "w", id)), Date.now, blobs);
  await add(ledger, "comes", "shared");
  assert.is(await checkBlobs(store, ledger, objects), 1);
});

test("content is kept if a new skill is published just before its last one is deleted", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const other = createLedger(store, Date.now, blobs);
  const { id } = await add(other, "goes", "shared");
  const dying = interrupted(store, () => add(other, "comes", "shared"));
  assert.is(await removeSkill(dying, createLedger(dying, Date.now, blobs), "w", id), "done");
  assert.is(await checkBlobs(store, other, objects), 1);
});

test("two concurrent uploads of the same new content store it once", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const other = createLedger(store, Date.now, blobs);
  const ledger = createLedger(interrupted(store, () => add(other, "first", "same")), Date.now, blobs);
  await add(ledger, "second", "same");
  assert.is(await checkBlobs(store, ledger, objects), 2);
  assert.is(objects.size, 3);
});

test("an upload is repeated each time another one of the same content comes and goes", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const other = createLedger(store, Date.now, blobs);
  const comeAndGo = async () => {
    const { id } = await add(other, "comes-and-goes", "same");
    return () => removeSkill(store, other, "w", id);
  };
  const ledger = createLedger(interrupted(store, ...Array(5).fill(comeAndGo)), Date.now, blobs);
  await add(ledger, "stays", "same");
  assert.is(await checkBlobs(store, ledger, objects), 1);
});

test("concurrent publishing and deleting of shared files leaves only complete skills", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const ledgers = [1, 2, 3].map(() => createLedger(store, Date.now, blobs));
  const kept = await Promise.all(Array.from({ length: 24 }, async (_, i) => {
    const ledger = ledgers[i % 3]!;
    const { id } = await add(ledger, `skill-${i}`, "shared by all", `shared by some ${i % 4}`, `own ${i}`);
    if (i % 2 === 0) return id;
    assert.is(await removeSkill(store, ledgers[(i + 1) % 3]!, "w", id), "done");
    return undefined;
  }));
  assert.is(await checkBlobs(store, ledgers[0]!, objects), kept.filter(Boolean).length);
});

test.run();
