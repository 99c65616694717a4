/**
 * Who needs a content, and the end of one that nobody needs: one record for each version that has it, so that a thousand
 * uploads with one licence between them do not wait for each other, as they would for a number that all must change.
 *
 * Whoever publishes checks the content's record and does not change it; whoever deletes ends references and leaves a note
 * in the same commit, that somebody must look whether others are left. The look is safe by its order: the content is
 * marked as ending, then its references are listed. What was published before the mark is in that list; what is
 * published after it sees the mark and takes it away, and then the commit that would end the content is not done. A
 * crash leaves the note, by which collection looks again.
 *
 * @module
 */
import type { Commit, Entry, Key, Store } from "../store/store.ts";
import { type Blob, blobGarbageKey, blobKey, blobReferenceKey, blobReleasedKey } from "./records.ts";

/** That a version (by its id) has a content (by its digest). */
export type Reference = readonly [digest: string, version: string];

/** Tries for what others change meanwhile; after that the note is left to collection. */
const TRIES = 20;
/** Contents that are looked after by one commit. */
const AT_ONCE = 30;

/** The part of a commit that ends references. */
export function unrefer(references: readonly Reference[]): Commit {
  return {
    remove: references.map(([digest, version]) => blobReferenceKey(digest, version)),
    set: digestsOf(references).map((digest) => ({ key: blobReleasedKey(digest), value: true })),
  };
}

/** Each content once. */
export function digestsOf(references: readonly Reference[]): string[] {
  return [...new Set(references.map(([digest]) => digest))];
}

/** Ends those of the contents with a note that nobody needs; resolves to their objects, which are garbage now. */
export async function endUnneeded(store: Store, digests: readonly string[]): Promise<string[]> {
  const ended: string[] = [];
  for (let at = 0; at < digests.length; at += AT_ONCE) {
    let left = digests.slice(at, at + AT_ONCE);
    for (let tries = 0; left.length > 0 && tries < TRIES; tries++) {
      const steps = (await Promise.all(left.map((digest) => nextStep(store, digest)))).filter(isDefined);
      const done = await commitAll(store, steps.map(({ commit }) => commit));
      ended.push(...steps.flatMap(({ object }, i) => done[i] && object !== undefined ? [object] : []));
      left = steps.filter(({ isLast }, i) => !done[i] || !isLast).map(({ digest }) => digest);
    }
  }
  return ended;
}

interface Step {
  readonly digest: string;
  readonly commit: Commit;
  readonly isLast: boolean;
  /** What is garbage when the commit is done. */
  readonly object?: string;
}

/** What is to be done about a content next; `undefined` when nobody left a note, or somebody has looked since. */
async function nextStep(store: Store, digest: string): Promise<Step | undefined> {
  const [note, blob] = await Promise.all([
    store.get(blobReleasedKey(digest)),
    store.get<Blob>(blobKey(digest)),
  ]);
  if (!note) return undefined;
  if (!blob) return { digest, commit: { check: [note], remove: [note.key] }, isLast: true };
  const check = [note, blob];
  const { ending, ...lasting } = blob.value;
  // After the content was read: who refers to it without a change to its record has done so by now.
  if (await isNeeded(store, digest)) {
    const set = ending ? [{ key: blob.key, value: lasting }] : [];
    return { digest, commit: { check, set, remove: [note.key] }, isLast: true };
  }
  if (!ending) {
    return { digest, commit: { check, set: [{ key: blob.key, value: toEnding(blob) }] }, isLast: false };
  }
  const { object } = lasting;
  const set = [{ key: blobGarbageKey(object), value: true }];
  return { digest, commit: { check, set, remove: [note.key, blob.key] }, isLast: true, object };
}

function toEnding({ value }: Entry<Blob>): Blob {
  return { ...value, ending: true };
}

async function isNeeded(store: Store, digest: string): Promise<boolean> {
  return (await store.list(["blob_reference", digest], { limit: 1 })).length > 0;
}

/** Which of the commits were done: all by one, or each by itself when somebody changed something meanwhile. */
async function commitAll(store: Store, commits: readonly Commit[]): Promise<boolean[]> {
  if (commits.length === 0) return [];
  if (await store.commit(commits.reduce(join))) return commits.map(() => true);
  return commits.length === 1 ? [false] : await Promise.all(commits.map((commit) => store.commit(commit)));
}

/** Both, or neither. */
export function join(a: Commit, b: Commit): Commit {
  const both = <Part>(one: readonly Part[] = [], other: readonly Part[] = []): Part[] => [...one, ...other];
  return { check: both(a.check, b.check), set: both(a.set, b.set), remove: both<Key>(a.remove, b.remove) };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
