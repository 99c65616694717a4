import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { createLedger, type Ledger } from "./blob_ledger.ts";
import { readPackage } from "../package/package.ts";
import { publish } from "../publishing/publish.ts";
import { type Blob, skillKey } from "../records.ts";
import { removeSkill } from "../publishing/remove.ts";
import { SKILL_MD } from "../test_service.ts";
import { auditBlobs } from "./test_blob_audit.ts";

const test = suite("skills/blobs/blob_references");
const encoder = new TextEncoder();
const DAY = 24 * 60 * 60 * 1000;

async function add(store: Store, name: string, text: string): Promise<string> {
  const content = await readPackage([
    { path: "SKILL.md", bytes: encoder.encode(SKILL_MD.replace("name: demo", `name: ${name}`)) },
    { path: "LICENSE.txt", bytes: encoder.encode(text) },
  ], 1e6);
  return (await publish(ledgerOf(store), "w", content, { now: Date.now() })).skill.id;
}

const ledgerOf = (store: Store): Ledger => createLedger(store, Date.now);

/** A store that calls `meanwhile` before one of its reads and commits. */
function interrupted(store: Store, at: number, meanwhile: () => Promise<unknown>) {
  let steps = 0;
  async function step<Result>(work: () => Promise<Result>): Promise<Result> {
    if (steps++ === at) await meanwhile();
    return await work();
  }
  const watched: Store = {
    guarantees: store.guarantees,
    get: (key) => step(() => store.get(key)),
    list: (prefix, options) => step(() => store.list(prefix, options)),
    commit: (commit) => step(() => store.commit(commit)),
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
  return { watched, steps: () => steps };
}

/** Deletes a skill and calls `meanwhile` before each of its steps in turn. */
async function atEachStep(
  meanwhile: (store: Store, other: string) => Promise<unknown>,
  check: (store: Store) => Promise<void>,
): Promise<void> {
  let tried = 0;
  for (let at = 0;; at++) {
    const store = memoryStore();
    const id = await add(store, "goes", "shared");
    const other = await add(store, "other", "shared");
    const { watched, steps } = interrupted(store, at, () => meanwhile(store, other));
    assert.is(await removeSkill(watched, ledgerOf(watched), "w", id), "done");
    if (steps() <= at) break;
    assert.equal(await auditBlobs(store), [], `before step ${at}`);
    await check(store);
    tried++;
  }
  assert.ok(tried >= 10, `${tried} steps`);
}

test("content of two skills is removed when both are deleted concurrently, at every step", () =>
  atEachStep(
    (store, other) => removeSkill(store, ledgerOf(store), "w", other),
    async (store) => assert.equal(await store.list(["blob"]), []),
  ));

test("content is kept if a new version is published at any step of deleting its last one", () =>
  atEachStep(
    async (store, other) => {
      await removeSkill(store, ledgerOf(store), "w", other);
      await add(store, "comes", "shared");
    },
    async (store) => {
      const blobs = await store.list<Blob>(["blob"]);
      assert.is(blobs.length, 2);
      assert.ok(blobs.every(({ value }) => value.ending === undefined));
    },
  ));

test("content is kept if its last skill is deleted at any step of publishing it again", async () => {
  let tried = 0;
  for (let at = 0;; at++) {
    const store = memoryStore();
    const id = await add(store, "goes", "shared");
    const { watched, steps } = interrupted(store, at, () => removeSkill(store, ledgerOf(store), "w", id));
    const added = await add(watched, "comes", "shared");
    if (steps() <= at) break;
    assert.equal(await auditBlobs(store), [], `before step ${at}`);
    assert.equal((await store.list(["skill"])).map(({ key }) => key[2]), [added]);
    tried++;
  }
  assert.ok(tried >= 5, `${tried} steps`);
});

test("after an aborted deletion new versions are complete, and collection removes the rest", async () => {
  for (let at = 0;; at++) {
    const store = memoryStore();
    const id = await add(store, "goes", "shared");
    const { watched, steps } = interrupted(store, at, () => Promise.reject(new Error("killed")));
    const outcome = await removeSkill(watched, ledgerOf(watched), "w", id).catch(String);
    if (steps() <= at) break;
    const isRemoved = await store.get(skillKey("w", id)) === undefined;
    assert.is(outcome, isRemoved ? "done" : "Error: killed", `at step ${at}`);
    await add(store, "comes", "shared");
    await createLedger(store, () => Date.now() + DAY).collect();
    assert.equal(await auditBlobs(store), [], `at step ${at}`);
  }
});

test("concurrent uploads that share content have no commit conflicts", async () => {
  const store = memoryStore();
  await add(store, "first", "shared");
  let failed = 0;
  const counting: Store = {
    guarantees: store.guarantees,
    get: (key) => store.get(key),
    list: (prefix, options) => store.list(prefix, options),
    async commit(commit) {
      // As over a network: all reads precede the first write.
      await new Promise((resolve) => setTimeout(resolve, 1));
      const done = await store.commit(commit);
      if (!done) failed++;
      return done;
    },
    watch: (prefix) => store.watch(prefix),
    sweep: () => store.sweep(),
    close: () => store.close(),
  };
  const ids = await Promise.all(Array.from({ length: 50 }, (_, i) => add(counting, `skill-${i}`, "shared")));
  assert.is(failed, 0);
  assert.equal(await auditBlobs(store), []);
  await Promise.all(ids.map((id) => removeSkill(store, ledgerOf(store), "w", id)));
  assert.equal(await auditBlobs(store), []);
  assert.is((await store.list(["blob"])).length, 2);
});

test.run();
