import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Store, StoreUnavailableError } from "../../store/store.ts";
import { createLedger, type Ledger } from "./blob_ledger.ts";
import { contentOf } from "./blob_references.ts";
import { type BlobStore, readAll } from "./blob_store.ts";
import { readPackage } from "../package/package.ts";
import { digestOf } from "../content_digest.ts";
import { publish } from "../publishing/publish.ts";
import type { Blob, SkillVersion } from "../records.ts";
import { removeSkill } from "../publishing/remove.ts";
import { SKILL_MD } from "../test_service.ts";

const test = suite("skills/blobs/blob_ledger");
const HOUR = 3_600_000;
const encoder = new TextEncoder();

/** A blob store whose objects the test can read. */
function newBlobStore(): { blobs: BlobStore; objects: Map<string, Uint8Array> } {
  const objects = new Map<string, Uint8Array>();
  const blobs: BlobStore = {
    kind: "test",
    async put(name, content, size) {
      objects.set(name, content instanceof Uint8Array ? content.slice() : await readAll(content, size));
    },
    get: async (name) => objects.has(name) ? new Response(objects.get(name)!.slice()).body! : undefined,
    remove: async (name) => void objects.delete(name),
  };
  return { blobs, objects };
}

const skill = (name: string, ...texts: string[]) =>
  readPackage([
    { path: "SKILL.md", bytes: encoder.encode(SKILL_MD.replace("name: demo", `name: ${name}`)) },
    ...texts.map((text, i) => ({ path: `file-${i}.txt`, bytes: encoder.encode(text) })),
  ], 1e7);

const add = (ledger: Ledger, name: string, ...texts: string[]) => addTo("w", ledger, name, ...texts);
const addTo = async (workspace: string, ledger: Ledger, name: string, ...texts: string[]) =>
  (await publish(ledger, workspace, await skill(name, ...texts), { now: Date.now() })).skill;

/** Asserts that every version is complete, every object is referenced and no other records remain. */
async function checkBlobs(
  store: Store,
  ledger: Ledger,
  objects: ReadonlyMap<string, Uint8Array>,
): Promise<number> {
  const versions = await store.list<SkillVersion>(["skill_version"], { limit: 1000 });
  const referred: string[] = [];
  for (const { value: { id, files } } of versions) {
    for (const file of files) {
      const bytes = await ledger.read(file);
      assert.ok(bytes, `${file.path} has no object`);
      assert.is(await digestOf(bytes), file.digest);
    }
    for (const content of new Set(files.map(({ object }) => contentOf(object)))) {
      referred.push(`${content} ${id}`);
    }
  }
  const blobs = await store.list<Blob>(["blob"], { limit: 1000 });
  const references = await store.list(["blob_reference"], { limit: 5000 });
  assert.equal(references.map(({ key }) => `${key[1]} ${key[2]}`), referred.sort());
  assert.equal(blobs.filter(({ value }) => value.ending), []);
  assert.equal(
    [...objects.keys()].sort(),
    blobs.map(({ value }) => value.object).sort(),
    "unreferenced and missing objects",
  );
  assert.equal(await store.list(["blob_pending"]), []);
  assert.equal(await store.list(["blob_garbage"]), []);
  assert.equal(await store.list(["blob_released"]), []);
  return versions.length;
}

test("equal files are stored once and removed with their last version", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const ledger = createLedger(store, Date.now, blobs);
  const first = await add(ledger, "one", "same", "same", "first alone");
  const second = await add(ledger, "two", "same", "second alone");
  assert.is(objects.size, 5);
  await checkBlobs(store, ledger, objects);
  assert.is(await removeSkill(store, ledger, "w", first.id), "done");
  assert.is(objects.size, 3);
  await checkBlobs(store, ledger, objects);
  assert.is(await removeSkill(store, ledger, "w", first.id), "gone");
  assert.is(await removeSkill(store, ledger, "w", second.id), "done");
  assert.is(objects.size, 0);
  await checkBlobs(store, ledger, objects);
});

test("equal files of two workspaces are stored separately, so timing reveals nothing", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  let puts = 0;
  const ledger = createLedger(store, Date.now, { ...blobs, put: (...all) => (puts++, blobs.put(...all)) });
  const first = await addTo("w", ledger, "one", "same");
  assert.is(puts, 2);
  const other = await addTo("other", ledger, "one", "same");
  assert.is(puts, 4);
  await addTo("other", ledger, "one", "same");
  assert.is(puts, 4);
  assert.is(objects.size, 4);
  assert.is(await removeSkill(store, ledger, "w", first.id), "done");
  assert.is(objects.size, 2);
  assert.is(await removeSkill(store, ledger, "other", other.id), "done");
  assert.is(objects.size, 2);
  await checkBlobs(store, ledger, objects);
});

test("objects that earlier versions stored for all workspaces are read, kept and removed", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const ledger = createLedger(store, Date.now, blobs);
  const old = await add(ledger, "old", "same");
  const stays = await add(ledger, "stays", "same");
  // The format of earlier versions: the id is the digest alone.
  const early = (text: string): string => text.replace(/([0-9a-f]{64})-[0-9a-f]{16}/g, "$1");
  for (const { key, value, version } of await store.list([])) {
    const written = JSON.parse(early(JSON.stringify({ key, value })));
    await store.commit({ check: [{ key, version }], remove: [key] });
    await store.commit({ set: [written] });
  }
  for (const [name, bytes] of [...objects]) {
    objects.delete(name);
    objects.set(early(name), bytes);
  }
  await checkBlobs(store, ledger, objects);
  await add(ledger, "new", "same");
  assert.is(objects.size, 5, "new versions do not refer to it");
  assert.is(await removeSkill(store, ledger, "w", old.id), "done");
  await checkBlobs(store, ledger, objects);
  assert.is(await removeSkill(store, ledger, "w", stays.id), "done");
  assert.is(objects.size, 2);
  await checkBlobs(store, ledger, objects);
});

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

/** A store that calls `meanwhile` before the first commit that writes or removes a skill. */
function interrupted(store: Store, meanwhile: () => Promise<unknown>): Store {
  let isFirst = true;
  return {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    async commit(commit) {
      const keys = [...(commit.set ?? []).map((put) => put.key), ...commit.remove ?? []];
      if (isFirst && keys.some((key) => key[0] === "skill")) {
        isFirst = false;
        await meanwhile();
      }
      return await store.commit(commit);
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

test("collection removes the records of a failed upload", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  let fails = true;
  const ledger = createLedger(store, Date.now, {
    ...blobs,
    put: (...all) =>
      fails && all[1] instanceof Uint8Array && all[2] === 1
        ? Promise.reject(new Error("full"))
        : blobs.put(...all),
  });
  assert.is(await add(ledger, "fails", "x").catch((error: Error) => error.message), "full");
  fails = false;
  await ledger.collect();
  assert.is(await checkBlobs(store, ledger, objects), 0);
});

test("a failed check of the caller stores nothing", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const ledger = createLedger(store, Date.now, blobs);
  const bytes = encoder.encode("x");
  const contents = new Map([[await digestOf(bytes), bytes]]);
  const commit = { check: [{ key: ["no"], version: "1" }], set: [{ key: ["k"], value: 1 }] };
  const done = await ledger.publish("w", contents, () => Promise.resolve({ version: "v", commit }));
  assert.is(done, false);
  assert.is(await store.get(["k"]), undefined);
  await checkBlobs(store, ledger, objects);
});

test("opening an object of a blob store that is not configured throws an error with its kind", async () => {
  const { blobs } = newBlobStore();
  const store = memoryStore();
  await add(createLedger(store, Date.now, blobs), "far", "x");
  const [entry] = await store.list<SkillVersion>(["skill_version"]);
  const near = createLedger(store, Date.now);
  assert.throws(() => near.open(entry!.value.files[0]!), /"test"/);
});

test.run();
