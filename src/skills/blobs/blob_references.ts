/**
 * References from versions to contents, and the removal of contents without references. There is one record for each
 * reference, so that concurrent uploads with a file in common do not contend for a counter.
 *
 * Publishing checks the content's record without changing it. Deleting removes references and leaves a note (`blob_released`)
 * in the same commit. Collection then marks the content as ending and lists its references, in this order: a reference
 * written before the mark is in the list, and a commit after the mark removes the mark, so that the commit that would
 * remove the content fails. After a crash the note remains, and collection runs again.
 *
 * @module
 */
import { pauseBefore } from "../../store/retry.ts";
import { toHex } from "../../crypto/hex.ts";
import { sha256 } from "../../crypto/sha256.ts";
import type { Commit, Entry, Key, Store } from "../../store/store.ts";
import { type Blob, blobGarbageKey, blobKey, blobReferenceKey, blobReleasedKey } from "../records.ts";

/** A version (by its id) has a content (by its id). */
export type Reference = readonly [content: string, version: string];

/**
 * Returns a function from digest to content id. Ids differ between workspaces: if workspaces shared files, the duration of
 * an upload would reveal what another workspace stores.
 */
export function contentIds(workspace: string): (digest: string) => string {
  const mark = toHex(sha256(workspace).subarray(0, 8));
  return (digest) => `${digest}-${mark}`;
}

/** The digest in a content id. */
export function digestOfContent(id: string): string {
  return id.split("-", 1)[0]!;
}

/** The content id in the name of an object; in names from before ids had workspaces, the digest. */
export function contentOf(object: string): string {
  return `sha256:${object.split("/", 2)[1]}`;
}

/** A new name for an object that holds a content. */
export function nameObject(kind: string, content: string, suffix: string): string {
  return `${kind}/${content.slice("sha256:".length)}/${suffix}`;
}

/** Tries after concurrent changes; then the note stays for the next collection. */
const MAX_TRIES = 20;
/** Contents of one commit. */
const CONTENTS_PER_COMMIT = 30;

/** The part of a commit that removes references and leaves notes. */
export function releaseReferences(references: readonly Reference[]): Commit {
  return {
    remove: references.map(([content, version]) => blobReferenceKey(content, version)),
    set: contentsOf(references).map((content) => ({ key: blobReleasedKey(content), value: true })),
  };
}

/** Each content once. */
export function contentsOf(references: readonly Reference[]): string[] {
  return [...new Set(references.map(([content]) => content))];
}

/** Removes the contents that have a note and no reference; resolves to their objects, which are garbage now. */
export async function collectUnreferenced(store: Store, contents: readonly string[]): Promise<string[]> {
  const ended: string[] = [];
  for (let at = 0; at < contents.length; at += CONTENTS_PER_COMMIT) {
    let left = contents.slice(at, at + CONTENTS_PER_COMMIT);
    for (let tries = 0; left.length > 0 && tries < MAX_TRIES; tries++) {
      if (tries > 0) await pauseBefore(tries);
      const steps = (await Promise.all(left.map((content) => nextStep(store, content)))).filter(isDefined);
      const done = await commitAll(store, steps.map(({ commit }) => commit));
      ended.push(...steps.flatMap(({ object }, i) => done[i] && object !== undefined ? [object] : []));
      left = steps.filter(({ isLast }, i) => !done[i] || !isLast).map(({ content }) => content);
    }
  }
  return ended;
}

interface Step {
  readonly content: string;
  readonly commit: Commit;
  readonly isLast: boolean;
  /** The object that is garbage after the commit. */
  readonly object?: string;
}

/** The next step for a content; `undefined` when it has no note. */
async function nextStep(store: Store, content: string): Promise<Step | undefined> {
  const [note, blob] = await Promise.all([
    store.get(blobReleasedKey(content)),
    store.get<Blob>(blobKey(content)),
  ]);
  if (!note) return undefined;
  if (!blob) return { content, commit: { check: [note], remove: [note.key] }, isLast: true };
  const check = [note, blob];
  const { ending, ...lasting } = blob.value;
  // Must run after the content's record was read: see the module comment.
  if (await isReferenced(store, content)) {
    const set = ending ? [{ key: blob.key, value: lasting }] : [];
    return { content, commit: { check, set, remove: [note.key] }, isLast: true };
  }
  if (!ending) {
    return { content, commit: { check, set: [{ key: blob.key, value: toEnding(blob) }] }, isLast: false };
  }
  const { object } = lasting;
  const set = [{ key: blobGarbageKey(object), value: true }];
  return { content, commit: { check, set, remove: [note.key, blob.key] }, isLast: true, object };
}

function toEnding({ value }: Entry<Blob>): Blob {
  return { ...value, ending: true };
}

async function isReferenced(store: Store, content: string): Promise<boolean> {
  return (await store.list(["blob_reference", content], { limit: 1 })).length > 0;
}

/** Which commits succeeded: all together, or each on its own after a concurrent change. */
async function commitAll(store: Store, commits: readonly Commit[]): Promise<boolean[]> {
  if (commits.length === 0) return [];
  if (await store.commit(commits.reduce(joinCommits))) return commits.map(() => true);
  return commits.length === 1 ? [false] : await Promise.all(commits.map((commit) => store.commit(commit)));
}

/** One commit of both parts. */
export function joinCommits(a: Commit, b: Commit): Commit {
  const both = <Part>(one: readonly Part[] = [], other: readonly Part[] = []): Part[] => [...one, ...other];
  return { check: both(a.check, b.check), set: both(a.set, b.set), remove: both<Key>(a.remove, b.remove) };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
