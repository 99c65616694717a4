import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { digestOf } from "../content_digest.ts";
import { removeSkill } from "../publishing/remove.ts";
import type { SkillVersion } from "../records.ts";
import { createLedger } from "./blob_ledger.ts";
import { add, addTo, checkBlobs, newBlobStore } from "./test_blob_ledger.ts";

const test = suite("skills/blobs/blob_ledger");
const encoder = new TextEncoder();

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

test("objects that are written while another one fails are removed too", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  let puts = 0;
  const ledger = createLedger(store, Date.now, {
    ...blobs,
    async put(...all) {
      if (++puts === 1) throw new Error("full");
      await new Promise((resolve) => setTimeout(resolve, 5));
      await blobs.put(...all);
    },
  });
  assert.is(await add(ledger, "fails", "a", "b", "c").catch((error: Error) => error.message), "full");
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.ok(puts > 2);
  assert.is(objects.size, 0);
  assert.is(await checkBlobs(store, ledger, objects), 0);
});

test("a deletion is done although objects cannot be removed, and collection removes all but those", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  let isDown = true;
  let running = 0;
  let most = 0;
  const locked = new Set<string>();
  const ledger = createLedger(store, Date.now, {
    ...blobs,
    async remove(name) {
      most = Math.max(most, ++running);
      await new Promise((resolve) => setTimeout(resolve));
      running--;
      if (isDown || locked.has(name)) throw new Error("forbidden");
      await blobs.remove(name);
    },
  });
  const { id } = await add(ledger, "one", ...Array.from({ length: 40 }, (_, i) => `file ${i}`));
  assert.is(await removeSkill(store, ledger, "w", id), "done");
  assert.is(most, 8);
  assert.ok(objects.size >= 40);
  isDown = false;
  locked.add([...objects.keys()].sort()[0]!);
  assert.is(await ledger.collect().catch((error: Error) => error.message), "forbidden");
  assert.is(objects.size, 1);
  locked.clear();
  assert.is(await ledger.collect(), 1);
  assert.is(await checkBlobs(store, ledger, objects), 0);
});

test("a commit that loses every race stores nothing", async () => {
  const store = memoryStore();
  const { blobs, objects } = newBlobStore();
  const ledger = createLedger(store, Date.now, blobs);
  const bytes = encoder.encode("x");
  const contents = new Map([[await digestOf(bytes), bytes]]);
  const commit = { check: [{ key: ["no"], version: "1" }], set: [{ key: ["k"], value: 1 }] };
  let tries = 0;
  const done = await withoutPauses(() =>
    ledger.publish("w", contents, () => {
      tries++;
      return Promise.resolve({ version: "v", commit });
    })
  );
  assert.is(done, false);
  assert.is(tries, 100);
  assert.is(await store.get(["k"]), undefined);
  await checkBlobs(store, ledger, objects);
});

/** Runs `work` with timers that end at once. */
async function withoutPauses<Result>(work: () => Promise<Result>): Promise<Result> {
  const { setTimeout } = globalThis;
  globalThis.setTimeout = ((callback: () => void) => setTimeout(callback)) as typeof setTimeout;
  try {
    return await work();
  } finally {
    globalThis.setTimeout = setTimeout;
  }
}

test("opening an object of a blob store that is not configured throws an error with its kind", async () => {
  const { blobs } = newBlobStore();
  const store = memoryStore();
  await add(createLedger(store, Date.now, blobs), "far", "x");
  const [entry] = await store.list<SkillVersion>(["skill_version"]);
  const near = createLedger(store, Date.now);
  assert.throws(() => near.open(entry!.value.files[0]!), /"test"/);
});

test.run();
