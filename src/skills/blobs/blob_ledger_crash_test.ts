/**
 * The ledger after crashes and lost responses: every version is complete, and collection removes the rest.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { removeSkill } from "../publishing/remove.ts";
import { createLedger } from "./blob_ledger.ts";
import type { BlobStore } from "./blob_store.ts";
import { add, checkBlobs, HOUR, newBlobStore } from "./test_blob_ledger.ts";

const test = suite("skills/blobs/blob_ledger_crash");

class Crash extends Error {}

/**
 * A store and a blob store that fail permanently at a step: before it is done, or after it is done and before the response.
 * Steps are commits and writes to the blob store.
 */
function crashing(store: Store, blobs: BlobStore, at: number, after: boolean) {
  let steps = 0;
  async function step<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = steps++;
    if (mine > at || mine === at && !after) throw new Crash();
    const result = await work();
    if (mine === at) throw new Crash();
    return result;
  }
  const alive = () => {
    if (steps > at) throw new Crash();
  };
  const dyingStore: Store = {
    guarantees: store.guarantees,
    get: async (key) => (alive(), await store.get(key)),
    list: async (prefix, options) => (alive(), await store.list(prefix, options)),
    commit: (commit) => step(() => store.commit(commit)),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
  const dyingBlobs: BlobStore = {
    kind: blobs.kind,
    put: (...all) => step(() => blobs.put(...all)),
    get: (name) => blobs.get(name),
    remove: (name) => step(() => blobs.remove(name)),
  };
  return { ledger: createLedger(dyingStore, Date.now, dyingBlobs), store: dyingStore, steps: () => steps };
}

for (const after of [false, true]) {
  const when = after ? "after a step" : "before a step";
  test(`a crash ${when} of publishing leaves a complete skill or none, and collection removes the rest`, async () => {
    let crashes = 0;
    for (let at = 0;; at++) {
      const store = memoryStore();
      const { blobs, objects } = newBlobStore();
      await add(createLedger(store, Date.now, blobs), "before", "shared", "other");
      const dying = crashing(store, blobs, at, after);
      const outcome = await add(dying.ledger, "new", "shared", "mine", "mine too").then(
        () => "done",
        (error) => {
          if (!(error instanceof Crash)) throw error;
          return "crashed";
        },
      );
      const later = createLedger(store, () => Date.now() + 2 * HOUR, blobs);
      await later.collect();
      const versions = await checkBlobs(store, later, objects);
      assert.ok(outcome === "done" ? versions === 2 : versions === 1 || versions === 2);
      if (outcome === "done" && dying.steps() <= at) break;
      crashes++;
    }
    // The pending record, three objects, the commit.
    assert.is(crashes, 5);
  });

  test(`a crash ${when} of deleting leaves complete skills, and collection removes the rest`, async () => {
    let crashes = 0;
    for (let at = 0;; at++) {
      const store = memoryStore();
      const { blobs, objects } = newBlobStore();
      const whole = createLedger(store, Date.now, blobs);
      await add(whole, "stays", "shared");
      const { id } = await add(whole, "goes", "shared", "mine", "mine too");
      const dying = crashing(store, blobs, at, after);
      const outcome = await removeSkill(dying.store, dying.ledger, "w", id).then(
        (done) => String(done),
        (error) => {
          if (!(error instanceof Crash)) throw error;
          return "crashed";
        },
      );
      await whole.collect();
      const versions = await checkBlobs(store, whole, objects);
      assert.ok(outcome === "done" ? versions === 1 : versions === 1 || versions === 2);
      if (dying.steps() <= at) break;
      crashes++;
    }
    // The commit, two for unreferenced content, then for each of three objects its removal and that of its record.
    assert.is(crashes, 9);
  });

  test(`the next collection completes one that crashed ${when}`, async () => {
    for (let at = 0;; at++) {
      const store = memoryStore();
      const { blobs, objects } = newBlobStore();
      const dead = crashing(store, blobs, 3, true);
      await add(dead.ledger, "dies", "a", "b", "c").catch(() => {});
      const dying = crashing(store, blobs, at, after);
      const later = () => Date.now() + 2 * HOUR;
      const ledger = createLedger(dying.store, later, {
        ...blobs,
        remove: (name) => dyingRemove(dying.store, blobs, name),
      });
      await ledger.collect().catch(() => {});
      const whole = createLedger(store, later, blobs);
      await whole.collect();
      await checkBlobs(store, whole, objects);
      if (dying.steps() <= at) break;
    }
  });
}

/** Counts the removal of an object as a step, by a commit that does nothing. */
async function dyingRemove(store: Store, blobs: BlobStore, name: string): Promise<void> {
  await store.commit({});
  await blobs.remove(name);
}

/** One step is done but its response is lost; all other steps succeed. */
function losingOneAnswer(store: Store, blobs: BlobStore, at: number) {
  let steps = 0;
  async function step<Result>(work: () => Promise<Result>): Promise<Result> {
    const mine = steps++;
    const result = await work();
    if (mine === at) throw new StoreUnavailableError("The response was lost");
    return result;
  }
  const lossyStore: Store = {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    commit: (commit) => step(() => store.commit(commit)),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
  const lossyBlobs: BlobStore = {
    ...blobs,
    put: (...all) => step(() => blobs.put(...all)),
    remove: (name) => step(() => blobs.remove(name)),
  };
  return { store: lossyStore, ledger: createLedger(lossyStore, Date.now, lossyBlobs), steps: () => steps };
}

test("if the response to a step of publishing is lost, every published version is complete", async () => {
  let losses = 0;
  for (let at = 0;; at++) {
    const store = memoryStore();
    const { blobs, objects } = newBlobStore();
    const lossy = losingOneAnswer(store, blobs, at);
    const outcome = await add(lossy.ledger, "lossy", "mine", "mine too").then(() => "done", (error) => {
      assert.instance(error, StoreUnavailableError);
      return "unknown";
    });
    const whole = createLedger(store, () => Date.now() + 2 * HOUR, blobs);
    await add(whole, "lossy", "mine", "mine too");
    await whole.collect();
    const versions = await checkBlobs(store, whole, objects);
    assert.ok(outcome === "done" ? versions === 2 : versions === 1 || versions === 2);
    if (lossy.steps() <= at) break;
    losses++;
  }
  assert.ok(losses >= 5, `${losses} steps`);
});

test("if the response to a step of deleting is lost, the other skill is complete", async () => {
  for (let at = 0;; at++) {
    const store = memoryStore();
    const { blobs, objects } = newBlobStore();
    const whole = createLedger(store, Date.now, blobs);
    await add(whole, "stays", "shared");
    const { id } = await add(whole, "goes", "shared", "mine");
    const lossy = losingOneAnswer(store, blobs, at);
    await removeSkill(lossy.store, lossy.ledger, "w", id).catch((error) => {
      assert.instance(error, StoreUnavailableError);
    });
    await whole.collect();
    assert.is(await checkBlobs(store, whole, objects), 1);
    if (lossy.steps() <= at) break;
  }
});

test("pending objects are not collected while their upload may still run", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const dead = crashing(store, blobs, 1, true);
  await add(dead.ledger, "dies", "a").catch(() => {});
  assert.is(await createLedger(store, () => Date.now() + HOUR / 2, blobs).collect(), 0);
  assert.ok(objects.size > 0);
  assert.is(await createLedger(store, () => Date.now() + 2 * HOUR, blobs).collect(), 2);
  assert.is(objects.size, 0);
});

test.run();
