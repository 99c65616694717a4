/**
 * The one contract between Trivet and whatever keeps its state: ordered keys, versions, atomic commits.
 * Types and small functions over `commit`; the drivers are the other files of this folder.
 *
 * Leaves out: encryption at rest, replication, backup. Those belong to the engine behind a driver.
 *
 * @module
 */

/**
 * An ordered tuple; the first word is the record's kind, so that kinds never collide.
 * Strings order by Unicode code point, numbers (finite) by value and before strings; a key orders before
 * every longer key that begins with it.
 */
export type Key = readonly (string | number)[];

/** What a record may hold. */
export type Json = null | boolean | number | string | readonly Json[] | { readonly [name: string]: Json };

/** A live record. `version` is opaque, differs after every commit that sets the key, and is never reused. */
export interface Entry<Value = unknown> {
  readonly key: Key;
  readonly value: Value;
  readonly version: string;
  /** Milliseconds since the epoch; absent when the record lives until it is removed. */
  readonly expires?: number;
}

/** A condition of a commit: the key still has this version, or (`null`) is absent or expired. */
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
   * The record has this value already, by a check of the same commit: only its expiry changes. A cache in front of the
   * store need not wait for copies of it (`layered.ts`). Drivers ignore it.
   */
  readonly isSameValue?: boolean;
}

/** All or nothing: when every check holds, every set and remove is done; else none is. */
export interface Commit {
  readonly check?: readonly Check[];
  readonly set?: readonly Put[];
  readonly remove?: readonly Key[];
}

/** How fresh a `get` must be. */
export interface GetOptions {
  /**
   * Allows a cache in front of the store to answer (`layered.ts`). Such an answer is never a record whose removal was
   * acknowledged, but may be a second older than the last time it was set. Drivers pass over it.
   */
  readonly cached?: boolean;
}

/** For reads that a cache may answer: one object, since it is on the path of every request. */
export const CACHED: GetOptions = { cached: true };

/** How much of a prefix to list. `after` is the last key of the page before; both ends are exclusive. */
export interface ListOptions {
  readonly after?: Key | undefined;
  readonly limit?: number | undefined;
  readonly reverse?: boolean | undefined;
}

/** What a driver promises; Trivet refuses to start on one that cannot keep single use and rotation. */
export interface Guarantees {
  /** Of racing commits that check one key, exactly one wins. */
  readonly atomic: boolean;
  /** A `get` after an acknowledged `commit` sees it, on every instance. */
  readonly readYourWrites: boolean;
  /** An acknowledged commit outlives the process (`process`), the machine's power (`power`), or neither. */
  readonly durable: "none" | "process" | "power";
}

/**
 * The engine cannot be reached, or did not answer in time. A `commit` that rejects with it was done whole or not at
 * all, and nobody knows which: ask again, or read.
 */
export class StoreUnavailableError extends Error {
  override readonly name = "StoreUnavailableError";
  /** Seconds after which to try again. */
  readonly retryAfter: number;

  constructor(message: string, options?: ErrorOptions & { retryAfter?: number }) {
    super(message, options);
    this.retryAfter = options?.retryAfter ?? 1;
  }
}

/**
 * Where all state lives. Every method rejects only when the engine fails ({@linkcode StoreUnavailableError} when that
 * may pass); a lost race is `false`.
 */
export interface Store {
  readonly guarantees: Guarantees;
  /**
   * Milliseconds since the epoch, by a clock that all instances share; absent where the machine's own is as good. By it
   * records expire, and whoever writes an expiry should go by it too.
   */
  now?(): number;
  /** The live record at `key`, or `undefined` when it is absent or expired. The value is not to be changed. */
  get<Value = unknown>(key: Key, options?: GetOptions): Promise<Entry<Value> | undefined>;
  /** Live records strictly below `prefix`, in key order; at most `limit` (100 when left out). */
  list<Value = unknown>(prefix: Key, options?: ListOptions): Promise<Entry<Value>[]>;
  /** `true` when it was done, `false` when a check failed and nothing was. Durable before it resolves. */
  commit(commit: Commit): Promise<boolean>;
  /**
   * Keys at or below `prefix` as they change, in batches; the prefix itself stands for "anything below it
   * may have changed, read again" (a driver that lost sight of the engine says so this way).
   * Cancel the stream to stop.
   */
  watch(prefix: Key): ReadableStream<readonly Key[]>;
  /** Removes expired records; resolves to how many. Drivers also do it by themselves. */
  sweep(): Promise<number>;
  /** Finishes what is under way and lets go of the engine. Later calls reject. */
  close(): Promise<void>;
}

/** Writes `value` only where nothing lives; `false` when something does. */
export function putIfAbsent(store: Store, key: Key, value: unknown, expires?: number): Promise<boolean> {
  return store.commit({ check: [{ key, version: null }], set: [{ key, value, expires }] });
}

/** Replaces the record only while it has `version`; `false` when somebody was first. */
export function compareAndSet(
  store: Store,
  key: Key,
  version: string,
  value: unknown,
  expires?: number,
): Promise<boolean> {
  return store.commit({ check: [{ key, version }], set: [{ key, value, expires }] });
}

/** Reads and removes in one step: of racing callers exactly one gets the value. */
export async function take<Value = unknown>(store: Store, key: Key): Promise<Value | undefined> {
  const entry = await store.get<Value>(key);
  if (!entry) return undefined;
  const won = await store.commit({ check: [{ key, version: entry.version }], remove: [key] });
  return won ? entry.value : undefined;
}

/** Every record below a prefix, read in pages: for work that is off the path of requests. */
export async function* listAll<Value = unknown>(store: Store, prefix: Key): AsyncGenerator<Entry<Value>> {
  for (let page = await store.list<Value>(prefix); page.length > 0;) {
    yield* page;
    page = await store.list<Value>(prefix, { after: page.at(-1)!.key });
  }
}
