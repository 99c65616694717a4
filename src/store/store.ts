/**
 * The interface between Trivet and the storage of its state: ordered keys, versions, atomic commits. Types, and small
 * functions over `commit`; the drivers are in `drivers/`.
 *
 * Encryption at rest, replication and backup are features of the engine behind a driver.
 *
 * @module
 */

/**
 * An ordered tuple. The first part is the record's kind, so keys of different kinds never collide.
 * Strings order by Unicode code point, numbers (finite) by value and before strings; a key orders before
 * every longer key that begins with it.
 */
export type Key = readonly (string | number)[];

/** The values of a record, beside bytes. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A live record. `version` is opaque: each commit that sets the key gives it a new one, and none is reused. */
export interface Entry<Value = unknown> {
  readonly key: Key;
  readonly value: Value;
  readonly version: string;
  /** Milliseconds since the epoch; absent for a record that does not expire. */
  readonly expires?: number;
}

/** A condition of a commit: the record still has this version, or (`null`) is absent or expired. */
export interface Check {
  readonly key: Key;
  readonly version: string | null;
}

/** A write of a commit. `value` is JSON or `Uint8Array`; `expires` is milliseconds since the epoch. */
export interface Put {
  readonly key: Key;
  readonly value: unknown;
  readonly expires?: number | undefined;
  /**
   * Whether a check of the same commit ensures that the record has this value already, and only its expiry changes. Then
   * the cache (`layered.ts`) does not wait for copies to expire. Drivers ignore it.
   */
  readonly isSameValue?: boolean;
}

/** An atomic commit: if every check holds, all sets and removes are done; otherwise none. */
export interface Commit {
  readonly check?: readonly Check[];
  readonly set?: readonly Put[];
  readonly remove?: readonly Key[];
}

/** Whether a `get` may return a cached record. */
export interface GetOptions {
  /**
   * Allows the cache (`layered.ts`) to answer. The result is never a record whose removal was acknowledged, but may miss
   * sets of the last second. Drivers ignore it.
   */
  readonly cached?: boolean;
}

/** Options for reads that the cache may answer. One object, because every request needs it. */
export const CACHED: GetOptions = { cached: true };

/** A page of a list. `after` is the last key of the previous page, and is not part of the result. */
export interface ListOptions {
  readonly after?: Key | undefined;
  readonly limit?: number | undefined;
  readonly reverse?: boolean | undefined;
}

/** What a driver guarantees. Trivet does not start on one that cannot ensure single use and rotation. */
export interface Guarantees {
  /** Of racing commits that check one key, exactly one wins. */
  readonly atomic: boolean;
  /** A `get` after an acknowledged `commit` sees it, on every instance. */
  readonly readYourWrites: boolean;
  /** An acknowledged commit outlives the process (`process`), the machine's power (`power`), or neither. */
  readonly durable: "none" | "process" | "power";
}

/**
 * The engine is unavailable, or did not respond in time. A `commit` that rejects with this error was done completely or
 * not at all: retry it, or read to find out.
 */
export class StoreUnavailableError extends Error {
  override readonly name: string = "StoreUnavailableError";
  /** Seconds after which to retry (`Retry-After`). */
  readonly retryAfter: number;

  constructor(message: string, options?: ErrorOptions & { retryAfter?: number }) {
    super(message, options);
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/** Seconds after which to retry; `undefined` unless the error is a {@linkcode StoreUnavailableError}. */
export function findRetryAfter(error: unknown): number | undefined {
  return error instanceof StoreUnavailableError ? error.retryAfter : undefined;
}

/** A method of the store was called after `close()`. */
export class StoreClosedError extends Error {
  override readonly name = "StoreClosedError";

  constructor() {
    super("The store is closed");
  }
}

/** The database has no store, and the driver was not to create one. */
export class StoreNotFoundError extends Error {
  override readonly name = "StoreNotFoundError";
}

/**
 * The storage of all state. Methods reject only when the engine fails ({@linkcode StoreUnavailableError} for a temporary
 * failure); a commit that lost a race resolves to `false`.
 */
export interface Store {
  readonly guarantees: Guarantees;
  /**
   * Milliseconds since the epoch, by a clock that all instances share; absent when the system clock serves as well. Records
   * expire by this clock, so use it to compute expiries.
   */
  now?(): number;
  /** The live record at `key`, or `undefined` when it is absent or expired. Do not change the value. */
  get<Value = unknown>(key: Key, options?: GetOptions): Promise<Entry<Value> | undefined>;
  /**
   * Live records strictly below `prefix`, in key order: `limit` of them (100 when left out), and fewer only when there are no
   * more.
   */
  list<Value = unknown>(prefix: Key, options?: ListOptions): Promise<Entry<Value>[]>;
  /** Resolves to `true` when the commit is done and durable, `false` when a check failed and nothing was changed. */
  commit(commit: Commit): Promise<boolean>;
  /**
   * Keys at or below `prefix` as they change, in batches. The prefix itself means that anything below it may have changed:
   * drivers send it when they may have missed changes. Cancel the stream to stop watching.
   */
  watch(prefix: Key): ReadableStream<readonly Key[]>;
  /** Removes expired records and resolves to their number. Drivers also sweep periodically. */
  sweep(): Promise<number>;
  /** Waits for pending calls and closes the connections. Later calls reject. */
  close(): Promise<void>;
}

/** Milliseconds since the epoch, by the clock of the store: for times and expiries that are stored. */
export function timeOf(store: Store): number {
  return store.now?.() ?? Date.now();
}

/** Sets `value` if there is no live record at the key; resolves to `false` if there is one. */
export function putIfAbsent(store: Store, key: Key, value: unknown, expires?: number): Promise<boolean> {
  return store.commit({ check: [{ key, version: null }], set: [{ key, value, expires }] });
}

/** Replaces the record if it still has `version`; resolves to `false` if it does not. */
export function compareAndSet(
  store: Store,
  key: Key,
  version: string,
  value: unknown,
  expires?: number,
): Promise<boolean> {
  return store.commit({ check: [{ key, version }], set: [{ key, value, expires }] });
}

/**
 * Resolves when no instance uses a copy of a record that was removed before: for a removal that finds nothing, because
 * another one may still wait for the copies.
 * @param key of a kind that is cached; nothing is there
 */
export async function waitForRemoval(store: Store, key: Key): Promise<void> {
  // Every removal waits for all copies, whichever record it names.
  await store.commit({ remove: [key] });
}

/** Reads and removes a record: of concurrent callers exactly one gets the value. */
export async function take<Value = unknown>(store: Store, key: Key): Promise<Value | undefined> {
  const entry = await store.get<Value>(key);
  if (!entry) return undefined;
  const won = await store.commit({ check: [{ key, version: entry.version }], remove: [key] });
  return won ? entry.value : undefined;
}

const PAGE = 100;

/** All records below a prefix, read in pages. Not for use in requests. */
export async function* listAll<Value = unknown>(store: Store, prefix: Key): AsyncGenerator<Entry<Value>> {
  let after: Key | undefined;
  for (;;) {
    const page = await store.list<Value>(prefix, { after, limit: PAGE });
    yield* page;
    if (page.length < PAGE) return;
    after = page.at(-1)!.key;
  }
}
