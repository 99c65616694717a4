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
import { pauseBefore } from "../../store/retry.ts";
import { toHex } from "../../crypto/hex.ts";
import { sha256 } from "../../crypto/sha256.ts";
import type { Commit, Entry, Key, Store } from "../../store/store.ts";
import { type Blob, blobGarbageKey, blobKey, blobReferenceKey, blobReleasedKey } from "../records.ts";

/** That a version (by its id) has a content (by its id). */
export type Reference = readonly [content: string, version: string];

/**
 * The id of each content of a workspace, by its digest: equal files are stored once in a workspace, and apart in two, since
 * the time of an upload would tell one what the other has.
 */
export function contentIds(workspace: string): (digest: string) => string {
  const mark = toHex(sha256(workspace).subarray(0, 8));
  return (digest) => `${digest}-${mark}`;
}

/** The digest that an id was made of. */
export function digestOfContent(id: string): string {
  return id.split("-", 1)[0]!;
}

/** The id of the content that an object holds. Of objects from before there were workspaces in ids, it is the digest. */
export function contentOf(object: string): string {
  return `sha256:${object.split("/", 2)[1]}`;
}

/** A new name for an object that holds a content. */
export function nameObject(kind: string, content: string, suffix: string): string {
  return `${kind}/${content.slice("sha256:".length)}/${suffix}`;
}

/** Tries for what others change meanwhile; after that the note is left to collection. */
const MAX_TRIES = 20;
/** Contents that are looked after by one commit. */
const CONTENTS_PER_COMMIT = 30;

/** The part of a commit that ends references. */
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

/** Ends those of the contents with a note that nobody needs; resolves to their objects, which are garbage now. */
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
  /** What is garbage when the commit is done. */
  readonly object?: string;
}

/** What is to be done about a content next; `undefined` when nobody left a note, or somebody has looked since. */
async function nextStep(store: Store, content: string): Promise<Step | undefined> {
  const [note, blob] = await Promise.all([
    store.get(blobReleasedKey(content)),
    store.get<Blob>(blobKey(content)),
  ]);
  if (!note) return undefined;
  if (!blob) return { content, commit: { check: [note], remove: [note.key] }, isLast: true };
  const check = [note, blob];
  const { ending, ...lasting } = blob.value;
  // After the content was read: who refers to it without a change to its record has done so by now.
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

/** Which of the commits were done: all by one, or each by itself when somebody changed something meanwhile. */
async function commitAll(store: Store, commits: readonly Commit[]): Promise<boolean[]> {
  if (commits.length === 0) return [];
  if (await store.commit(commits.reduce(joinCommits))) return commits.map(() => true);
  return commits.length === 1 ? [false] : await Promise.all(commits.map((commit) => store.commit(commit)));
}

/** Both, or neither. */
export function joinCommits(a: Commit, b: Commit): Commit {
  const both = <Part>(one: readonly Part[] = [], other: readonly Part[] = []): Part[] => [...one, ...other];
  return { check: both(a.check, b.check), set: both(a.set, b.set), remove: both<Key>(a.remove, b.remove) };
}

function isDefined<Value>(value: Value | undefined): value is Value {
  return value !== undefined;
}
