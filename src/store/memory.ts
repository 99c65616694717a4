/**
 * The store in a Map: for one process, for tests, and as the yardstick of the other drivers.
 *
 * @module
 */
import { encodeKey, prefixRange } from "./key.ts";
import { SortedKeys } from "./sorted_keys.ts";
import type { Commit, Entry, Guarantees, Key, ListOptions, Store } from "./store.ts";
import { Watchers } from "./watchers.ts";

interface MemoryRecord {
  readonly key: Key;
  readonly value: unknown;
  readonly version: string;
  readonly expires: number;
}

/** Expiry is looked at in slices of this many milliseconds, so that a sweep touches only what is due. */
const SLICE = 60_000;

/** A store that lives as long as the process. @param now milliseconds since the epoch, for tests */
export function memoryStore({ now = Date.now }: { now?: () => number } = {}): Store {
  return new MemoryStore(now);
}

class MemoryStore implements Store {
  readonly guarantees: Guarantees = { atomic: true, readYourWrites: true, durable: "none" };
  #records = new Map<string, MemoryRecord>();
  #order = new SortedKeys();
  #due = new Map<number, Set<string>>();
  #swept: number;
  #watchers = new Watchers();
  #commits = 0;
  #closed = false;
  #now: () => number;

  constructor(now: () => number) {
    this.#now = now;
    this.#swept = Math.floor(now() / SLICE);
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    this.#ensureOpen();
    return this.#live(encodeKey(key)) as Entry<Value> | undefined;
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    this.#ensureOpen();
    const { after, limit = 100, reverse = false } = options;
    let { low, high } = prefixRange(prefix);
    if (after && !reverse) low = encodeKey(after);
    if (after && reverse) high = encodeKey(after);
    const entries: Entry<Value>[] = [];
    if (limit <= 0) return entries;
    for (const id of this.#order.between(low, high, reverse)) {
      const record = this.#live(id);
      if (record) entries.push(record as Entry<Value>);
      if (entries.length >= limit) break;
    }
    return entries;
  }

  async commit({ check = [], set = [], remove = [] }: Commit): Promise<boolean> {
    this.#ensureOpen();
    for (const { key, version } of check) {
      if ((this.#live(encodeKey(key))?.version ?? null) !== version) return false;
    }
    const version = String(++this.#commits);
    for (const key of remove) this.#delete(encodeKey(key));
    for (const { key, value, expires } of set) {
      const id = encodeKey(key);
      if (!this.#records.has(id)) this.#order.add(id);
      // Values are copied, so that a caller who goes on changing its object changes no record.
      const copy = freeze(value);
      this.#records.set(id, { key, value: copy, version, expires: expires ?? Infinity });
      if (expires !== undefined) this.#schedule(id, expires);
    }
    if (this.#watchers.size > 0) this.#watchers.changed([...set.map((put) => put.key), ...remove]);
    if (Math.floor(this.#now() / SLICE) > this.#swept) this.#sweepDue();
    return true;
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    return this.#watchers.watch(prefix);
  }

  async sweep(): Promise<number> {
    return this.#sweepDue();
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watchers.close();
  }

  #ensureOpen(): void {
    if (this.#closed) throw new Error("Cannot use the store: it is closed");
  }

  #live(id: string): MemoryRecord | undefined {
    const record = this.#records.get(id);
    return record && record.expires > this.#now() ? record : undefined;
  }

  #delete(id: string): void {
    if (this.#records.delete(id)) this.#order.delete(id);
  }

  #schedule(id: string, expires: number): void {
    const slice = Math.floor(expires / SLICE);
    const ids = this.#due.get(slice);
    if (ids) ids.add(id);
    else this.#due.set(slice, new Set([id]));
  }

  #sweepDue(): number {
    const now = this.#now();
    const current = Math.floor(now / SLICE);
    this.#swept = current;
    let removed = 0;
    for (const [slice, ids] of this.#due) {
      if (slice > current) continue;
      for (const id of ids) {
        const record = this.#records.get(id);
        // A record that was set again with a later expiry waits in another slice.
        if (record && record.expires <= now) {
          this.#delete(id);
          removed++;
        }
      }
      if (slice < current) this.#due.delete(slice);
    }
    return removed;
  }
}

/** A deep copy as JSON would make it, which cannot be changed; bytes are copied and left as they are. */
function freeze(value: unknown): unknown {
  if (value instanceof Uint8Array) return value.slice();
  if (value === null || typeof value !== "object") return value;
  if (Array.isArray(value)) return Object.freeze(value.map(freeze));
  const copy: Record<string, unknown> = {};
  for (const name of Object.keys(value)) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    // An own "__proto__" (JSON can carry one) is data here as well, never a prototype.
    if (name === "__proto__") Object.defineProperty(copy, name, { value: freeze(member), enumerable: true });
    else copy[name] = freeze(member);
  }
  return Object.freeze(copy);
}
