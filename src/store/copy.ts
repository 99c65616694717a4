/**
 * Copies all records from one store to another, and compares both. A copy that was interrupted can be continued. Expiry and
 * format are copied, so a copy of a store that needs an upgrade needs it too; versions belong to each engine and are not.
 *
 * @module
 */
import { toHex } from "../crypto/hex.ts";
import { sha256 } from "../crypto/sha256.ts";
import { FORMAT_KEY } from "./format.ts";
import { encodeKey } from "./key.ts";
import { type Entry, type Key, type Put, type Store, StoreUnavailableError, timeOf } from "./store.ts";

/** Called with the number of records done. */
export type Progress = (done: number) => void;

export interface Comparison {
  /** The number of records that are equal on both sides. */
  readonly same: number;
  /** SHA-256 of the equal records, in key order, in hexadecimal. */
  readonly digest: string;
  /** Keys that differ or are on one side only; the first hundred. */
  readonly differences: readonly Key[];
}

/** In the target: the position of the copy. Written in the commit of each batch. */
const MARK: Key = ["migration"];
interface Mark {
  readonly after: Key;
  readonly done: number;
  /** The SHA-256 of the file that is copied, in hexadecimal; absent for a copy of a store. */
  readonly source?: string;
}

/** The store has a part of another one, because a copy was interrupted or still runs. */
export class UnfinishedCopyError extends Error {
  override readonly name = "UnfinishedCopyError";
}

/** What the target counts as until its copy of the format is there: any record may have an early form. */
const ANY_FORMAT = { version: 1 };

/** The approximate size of one commit. */
const BATCH_BYTES = 2 * 1024 * 1024;
const MIN_PAGE_RECORDS = 16;
const MAX_PAGE_RECORDS = 1000;
const MAX_FINISH_TRIES = 10;
/** A record that expires this soon may be found on one side only. */
const EXPIRY_TOLERANCE_MS = 10_000;

/** The number of records. */
export async function countRecords(store: Store, progress: Progress = () => {}): Promise<number> {
  let count = 0;
  for await (const page of pagesOf(store)) progress(count += page.length);
  return count;
}

/** @throws {UnfinishedCopyError} for a store with a part of another one: nothing but a copy may use it */
export async function requireFinishedCopy(store: Store): Promise<void> {
  if (!await store.get(MARK)) return;
  throw new UnfinishedCopyError(
    'The store has the part of another one that an interrupted copy has written. Run that "trivet restore" or ' +
      '"trivet migrate" again, or empty the store',
  );
}

/**
 * Copies every record. Resolves to the number of records that this call and earlier calls copied. After earlier calls the
 * source may have changed: compare with `repair`.
 * @param source the SHA-256 of the file that is copied, in hexadecimal: a copy goes on with the same one only
 * @throws {Error} when the target has records that no earlier call copied
 * @throws {UnfinishedCopyError} when the earlier calls copied another source
 */
export async function copyRecords(
  from: Pick<Store, "list">,
  to: Store,
  progress: Progress = () => {},
  source?: string,
): Promise<{ copied: number; before: number }> {
  const mark = await to.get<Mark>(MARK);
  if (mark && mark.value.source !== source) {
    throw new UnfinishedCopyError(
      "The target has a part of another source, whose copy was interrupted. Run that copy again, or empty the target",
    );
  }
  const identity = source === undefined ? {} : { source };
  if (!mark && (await to.list([], { limit: 2 })).some(({ key }) => !isOwn(key))) {
    throw new Error("The target is not empty. Copy into an empty store");
  }
  const before = mark?.value.done ?? 0;
  let copied = 0;
  if (!mark) {
    const set: Put[] = [{ key: MARK, value: { after: [], done: 0, ...identity } satisfies Mark }];
    if (await to.get(FORMAT_KEY)) set.push({ key: FORMAT_KEY, value: ANY_FORMAT });
    await to.commit({ set });
  }
  for await (const page of pagesOf(from, { after: mark?.value.after, hasFormat: true })) {
    const set: Put[] = page.map(({ key, value, expires }) => ({ key, value, expires }));
    copied += page.filter(({ key }) => !isOwn(key)).length;
    const value: Mark = { after: page.at(-1)!.key, done: before + copied, ...identity };
    await to.commit({ set: [...set, { key: MARK, value }] });
    progress(before + copied);
  }
  return { copied, before };
}

/** Ends a copy: removes the mark from the target. Without the mark, the copy cannot be run again: so this is retried. */
export async function finishCopy(to: Store): Promise<void> {
  for (let tries = 1;; tries++) {
    try {
      await to.commit({ remove: [MARK] });
      return;
    } catch (error) {
      if (!(error instanceof StoreUnavailableError) || tries === MAX_FINISH_TRIES) throw error;
      const { retryAfter } = error;
      // It may be done, and only its response was lost.
      if (tries > 1) await new Promise((resolve) => setTimeout(resolve, retryAfter * 1000));
    }
  }
}

/** Compares both stores in key order. With `repair`, differences in the target are corrected from the source. */
export async function compareRecords(
  from: Store,
  to: Store,
  { repair = false, progress = () => {} }: { repair?: boolean; progress?: Progress } = {},
): Promise<Comparison> {
  const differences: Key[] = [];
  const encoder = new TextEncoder();
  let digest: Uint8Array = new Uint8Array(32);
  let same = 0;
  async function differs(source: Entry | undefined, target: Entry | undefined): Promise<void> {
    const entry = (source ?? target)!;
    // Each store hides what has expired by its own clock.
    const now = Math.max(...[from, to].map((store) => timeOf(store)));
    if (!(source && target) && entry.expires !== undefined && entry.expires < now + EXPIRY_TOLERANCE_MS) {
      return;
    }
    if (differences.length < 100) differences.push(entry.key);
    if (!repair) return;
    const { key, value, expires } = entry;
    await to.commit(source ? { set: [{ key, value, expires }] } : { remove: [key] });
  }
  const left = entriesOf(from);
  const right = entriesOf(to);
  let a = (await left.next()).value as Entry | undefined;
  let b = (await right.next()).value as Entry | undefined;
  while (a || b) {
    const [idA, idB] = [a && encodeKey(a.key), b && encodeKey(b.key)];
    if (idB === undefined || idA !== undefined && idA < idB) {
      await differs(a, undefined);
      a = (await left.next()).value as Entry | undefined;
    } else if (idA === undefined || idB < idA) {
      await differs(undefined, b);
      b = (await right.next()).value as Entry | undefined;
    } else {
      const [one, other] = [fingerprint(a!), fingerprint(b!)];
      if (one === other) {
        digest = sha256(joined(digest, encoder.encode(`${idA}\n${one}`)));
        progress(++same);
      } else await differs(a, b);
      a = (await left.next()).value as Entry | undefined;
      b = (await right.next()).value as Entry | undefined;
    }
  }
  return { same, digest: toHex(digest), differences };
}

/** A text that is equal for equal value and expiry. */
function fingerprint({ value, expires }: Entry): string {
  const content = value instanceof Uint8Array
    ? `b${value.length} ${toHex(sha256(value))}`
    : `j${JSON.stringify(value)}`;
  return `${expires === undefined ? "-" : Math.ceil(expires)} ${content}`;
}

async function* entriesOf(store: Store): AsyncGenerator<Entry> {
  for await (const page of pagesOf(store)) yield* page;
}

/** Whether a record belongs to its store, and is neither counted nor compared: the mark and the format. */
function isOwn(key: Key): boolean {
  return key.length === 1 && (key[0] === MARK[0] || key[0] === FORMAT_KEY[0]);
}

/**
 * All records to copy, in key order; with `hasFormat` the format record too. Pages grow while the records of a kind are
 * small.
 */
async function* pagesOf(
  store: Pick<Store, "list">,
  { after, hasFormat = false }: { readonly after?: Key | undefined; readonly hasFormat?: boolean } = {},
): AsyncGenerator<readonly Entry[]> {
  let last = after?.length === 0 ? undefined : after;
  for (;;) {
    // One record shows which kind is next; the others of the kind are read in pages.
    const first = await store.list([], { limit: 1, after: last });
    if (first.length === 0) return;
    last = first[0]!.key;
    if (!isOwn(last) || hasFormat && last[0] === FORMAT_KEY[0]) yield first;
    let limit = MIN_PAGE_RECORDS;
    for (;;) {
      const page: Entry[] = await store.list(last.slice(0, 1), { limit, after: last });
      if (page.length === 0) break;
      last = page.at(-1)!.key;
      yield page;
      const bytes = page.reduce((sum, entry) => sum + sizeOf(entry), 0);
      const fits = Math.floor(page.length * BATCH_BYTES / Math.max(bytes, 1));
      limit = Math.max(MIN_PAGE_RECORDS, Math.min(MAX_PAGE_RECORDS, limit * 4, fits));
    }
  }
}

/** The approximate size of a value in bytes. */
function sizeOf({ value }: Entry): number {
  return value instanceof Uint8Array ? value.length : JSON.stringify(value).length;
}

function joined(a: Uint8Array, b: Uint8Array): Uint8Array {
  const both = new Uint8Array(a.length + b.length);
  both.set(a);
  both.set(b, a.length);
  return both;
}
