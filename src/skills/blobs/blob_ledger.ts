/**
 * Which objects exist: one record for each content of a workspace (by SHA-256), with the object that holds it. Equal
 * files of a workspace are stored once; `blob_references.ts` knows which versions refer to them.
 *
 * The states of an object. Each step is one commit or one operation of the blob store, and a crash may follow any of them:
 *
 *   pending  its name is written before the object
 *   live     the commit that writes a skill version also writes its references, and removes `pending`
 *   garbage  after the last reference a commit marks it; then the object is removed, then the mark
 *
 * So the files of a visible version are always stored, and an object without references stays listed until it is removed:
 * {@linkcode Ledger.collect} finishes what a crash interrupted. Names are never reused, so a late removal is harmless.
 *
 * @module
 */
import { randomId } from "../../crypto/secret.ts";
import { pauseBefore } from "../../store/retry.ts";
import { type Commit, type Entry, findRetryAfter, type Key, listAll, type Store } from "../../store/store.ts";
import {
  collectUnreferenced,
  contentIds,
  contentsOf,
  digestOfContent,
  joinCommits,
  nameObject,
  type Reference,
  releaseReferences,
} from "./blob_references.ts";
import { type BlobContent, type BlobStore, readAll, storeBlobs } from "./blob_store.ts";
import {
  type Blob,
  blobGarbageKey,
  blobKey,
  type BlobPending,
  blobPendingKey,
  blobReferenceKey,
  type SkillFile,
} from "../records.ts";

export interface Ledger {
  /** The store with its records. */
  readonly store: Store;
  /**
   * Puts the contents (by digest) into the blob store and does one commit that refers to them from a version. `toCommit` gets
   * the name of each object (by digest), and is asked again when its commit lost a race. `false` when every try lost, and then
   * nothing was done.
   */
  publish(
    workspace: string,
    contents: ReadonlyMap<string, Uint8Array>,
    toCommit: (
      names: ReadonlyMap<string, string>,
    ) => Promise<{ readonly version: string; readonly commit: Commit }>,
  ): Promise<boolean>;
  /** Runs one commit that removes a version or skill (its first key), with references. Tries again as `publish` does. */
  release(
    toCommit: () => Promise<{ readonly references: readonly Reference[]; readonly commit: Commit }>,
  ): Promise<boolean>;
  /** The content of a file; `undefined` when its object is gone. */
  open(file: Pick<SkillFile, "object">): Promise<ReadableStream<Uint8Array> | undefined>;
  /** The whole content of a file; `undefined` when its object is gone. */
  read(file: SkillFile): Promise<Uint8Array | undefined>;
  /**
   * Removes objects without references, also after a crash; resolves to their number.
   * @throws the first error of a blob store, after the other objects were removed
   */
  collect(): Promise<number>;
}

/** Age at which a pending object counts as left by a crash: longer than any upload. */
const PENDING_LIFETIME_MS = 60 * 60 * 1000;
/** Objects that are written or removed at the same time. */
const MAX_CONCURRENT = 8;
/** Objects that one collection tries in vain to remove. */
const MAX_FAILURES = 100;
/** Tries of a commit against concurrent publishers of the same skill or file. */
const MAX_TRIES = 100;

interface Uploaded {
  readonly name: string;
  pending: Entry<BlobPending> | undefined;
}

/** The ledger of a store. New objects go to `blobs`; objects in the store itself can always be read. */
export function createLedger(store: Store, now: () => number, blobs: BlobStore = storeBlobs(store)): Ledger {
  const blobStores = new Map([storeBlobs(store), blobs].map((each) => [each.kind, each]));

  function blobStoreOf(name: string): BlobStore {
    const kind = name.slice(0, name.indexOf("/"));
    const found = blobStores.get(kind);
    if (!found) throw new Error(`The object ${name} is in the blob store "${kind}", which is not configured`);
    return found;
  }

  const readBlobs = async (ids: Iterable<string>) =>
    new Map(
      await Promise.all(Array.from(ids, async (id) => [id, await store.get<Blob>(blobKey(id))] as const)),
    );

  /** Names objects in the store, then writes them to the blob store. */
  async function upload(
    contents: readonly (readonly [id: string, content: Uint8Array])[],
    uploaded: Map<string, Uploaded>,
  ): Promise<void> {
    if (contents.length === 0) return;
    const since = now();
    const named = contents.map(([id]) => [id, nameObject(blobs.kind, id, randomId(""))] as const);
    await store.commit({
      set: named.map(([digest, name]) => ({ key: blobPendingKey(name), value: { digest, since } })),
    });
    for (const [id, name] of named) uploaded.set(id, { name, pending: undefined });
    for (let at = 0; at < contents.length; at += MAX_CONCURRENT) {
      // All end before one that failed counts: the objects of the others would be written after their removal.
      const written = await Promise.allSettled(
        contents.slice(at, at + MAX_CONCURRENT).map(([id, content]) =>
          blobs.put(uploaded.get(id)!.name, content, content.length, digestOfContent(id))
        ),
      );
      const failed = written.find((each) => each.status === "rejected");
      if (failed) throw failed.reason;
    }
  }

  /**
   * Removes uploaded objects that are still pending. If the response of a commit was lost, the commit may have succeeded,
   * and its objects are not pending any more.
   */
  async function abandon(names: readonly string[]): Promise<void> {
    await tryAll(names, async (name) => {
      const entry = await store.get<BlobPending>(blobPendingKey(name));
      if (entry && await toGarbage(entry)) await removeObject(name);
    });
  }

  /** Moves a pending object to garbage. If its publisher commits first, this commit fails. */
  function toGarbage({ key, version }: Entry<BlobPending>): Promise<boolean> {
    const garbage = { key: blobGarbageKey(key[1] as string), value: true };
    return store.commit({ check: [{ key, version }], remove: [key], set: [garbage] });
  }

  async function removeObject(name: string): Promise<void> {
    await blobStoreOf(name).remove(name);
    await store.commit({ remove: [blobGarbageKey(name)] });
  }

  /**
   * Tries a commit until it is done; `false` when every try lost a race.
   * @param prepare reads what the commit checks; `undefined` when it must be called again. `isDone` looks for its result
   */
  async function commitUntilDone(
    prepare: () => Promise<
      { commit: Commit; isDone(): Promise<unknown>; onDone(): Promise<void> } | undefined
    >,
  ): Promise<boolean> {
    for (let tries = 0; tries < MAX_TRIES; tries++) {
      const prepared = await prepare();
      if (!prepared) continue;
      const done = await store.commit(prepared.commit).catch(async (error) => {
        // Only the response may have been lost.
        if (findRetryAfter(error) !== undefined && await prepared.isDone().catch(() => false)) return true;
        throw error;
      });
      if (done) {
        await prepared.onDone();
        return true;
      }
      // Also when it would check the same again: content may have come and gone.
      await pauseBefore(tries);
    }
    return false;
  }

  const ledger: Ledger = {
    store,

    async publish(workspace, byDigest, toCommit) {
      const idOf = contentIds(workspace);
      const contents = new Map(Array.from(byDigest, ([digest, content]) => [idOf(digest), content]));
      const uploaded = new Map<string, Uploaded>();
      let isPublished = false;
      try {
        return isPublished = await commitUntilDone(async () => {
          const live = await readBlobs(contents.keys());
          await upload(
            [...contents].filter(([id]) => !live.get(id) && !uploaded.has(id)),
            uploaded,
          );
          for (const [id, each] of uploaded) {
            each.pending = await store.get<BlobPending>(blobPendingKey(each.name));
            // It was collected because the upload took too long: upload it again.
            if (!each.pending) uploaded.delete(id);
          }
          if ([...contents.keys()].some((id) => !live.get(id) && !uploaded.has(id))) return undefined;
          const { version, commit } = await toCommit(namesOf(contents.keys(), live, uploaded));
          const { commit: part, unused } = addReferences(version, contents, live, uploaded);
          return {
            commit: joinCommits(part, commit),
            isDone: () => store.get(blobReferenceKey([...contents.keys()][0]!, version)),
            onDone: () => tryAll(unused, removeObject),
          };
        });
      } finally {
        if (!isPublished) await abandon([...uploaded.values()].map(({ name }) => name));
      }
    },

    release: (toCommit) =>
      commitUntilDone(async () => {
        const { references, commit } = await toCommit();
        return {
          commit: joinCommits(releaseReferences(references), commit),
          isDone: async () => !await store.get(commit.remove![0]!),
          async onDone() {
            // The commit is done, whatever fails now.
            const garbage = await collectUnreferenced(store, contentsOf(references)).catch(() => []);
            await tryAll(garbage, removeObject);
          },
        };
      }),

    open: ({ object }) => blobStoreOf(object).get(object),

    async read(file) {
      const stream = await ledger.open(file);
      return stream && await readAll(stream, file.size);
    },

    async collect() {
      let removed = 0;
      for await (const { key } of listAll(store, ["blob_released"])) {
        await collectUnreferenced(store, [key[1] as string]);
      }
      for await (const entry of listAll<BlobPending>(store, ["blob_pending"])) {
        if (now() - entry.value.since >= PENDING_LIFETIME_MS) await toGarbage(entry);
      }
      const failures: unknown[] = [];
      for await (const { key } of listAll(store, ["blob_garbage"])) {
        try {
          await removeObject(key[1] as string);
          removed++;
        } catch (error) {
          if (failures.push(error) === MAX_FAILURES) break;
        }
      }
      if (failures.length > 0) throw failures[0];
      return removed;
    },
  };
  return ledger;
}

/** Does what it can for each name: {@linkcode Ledger.collect} finishes the others. */
async function tryAll(names: readonly string[], work: (name: string) => Promise<void>): Promise<void> {
  for (let at = 0; at < names.length; at += MAX_CONCURRENT) {
    await Promise.allSettled(names.slice(at, at + MAX_CONCURRENT).map(work));
  }
}

/** The object of each content, by its digest. */
function namesOf(
  ids: Iterable<string>,
  live: ReadonlyMap<string, Entry<Blob> | undefined>,
  uploaded: ReadonlyMap<string, Uploaded>,
): Map<string, string> {
  return new Map(
    Array.from(ids, (id) => [digestOfContent(id), live.get(id)?.value.object ?? uploaded.get(id)!.name]),
  );
}

/** The part of a commit that refers to each content from a version. */
function addReferences(
  version: string,
  contents: ReadonlyMap<string, BlobContent & Uint8Array>,
  live: ReadonlyMap<string, Entry<Blob> | undefined>,
  uploaded: ReadonlyMap<string, Uploaded>,
): { commit: Commit; unused: string[] } {
  const check: { key: Key; version: string | null }[] = [];
  const set: { key: Key; value: unknown }[] = [];
  const remove: Key[] = [];
  const unused: string[] = [];
  for (const [id, content] of contents) {
    const found = live.get(id);
    const mine = uploaded.get(id);
    const key = blobKey(id);
    check.push({ key, version: found?.version ?? null });
    // An existing record is not changed, so that concurrent publishers do not conflict.
    const { object, size, ending } = found?.value ?? { object: mine!.name, size: content.length };
    if (!found || ending) set.push({ key, value: { object, size } });
    set.push({ key: blobReferenceKey(id, version), value: true });
    if (!mine) continue;
    check.push({ key: mine.pending!.key, version: mine.pending!.version });
    remove.push(mine.pending!.key);
    // Another publisher stored the same content first.
    if (found) {
      unused.push(mine.name);
      set.push({ key: blobGarbageKey(mine.name), value: true });
    }
  }
  return { commit: { check, set, remove }, unused };
}
