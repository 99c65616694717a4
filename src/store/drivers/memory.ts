/**
 * The store in a Map: for one process, for tests, and as the reference for other drivers.
 *
 * @module
 */
import { decodeKey, encodeKey, encodeName, pageRange } from "../key.ts";
import { type MemoryRecord, MemoryRows } from "./memory/rows.ts";
import { SortedKeys } from "./memory/sorted_keys.ts";
import { type Clocks, SWEEP_BATCH_RECORDS, SweepGuard } from "../sweep_guard.ts";
import {
  type Commit,
  type Entry,
  type Guarantees,
  type Key,
  type ListOptions,
  type Store,
  StoreClosedError,
} from "../store.ts";
import { Watchers } from "../watchers.ts";
export type { Store } from "../store.ts";

/** Records are grouped by time slices of their expiry, so that a sweep reads only those that are due. */
const SLICE_MS = 60_000;

/** Creates a store that lives as long as the process. @param clocks for tests */
export function memoryStore(clocks: Clocks = {}): Store {
  return new MemoryStore(clocks);
}

/**
 * The records of one kind, by the rest of their keys. Their order is computed when the kind is first listed: most kinds
 * never are.
 */
interface Table {
  readonly records: MemoryRows;
  /** The records that expire, by the time slice of their expiry. */
  readonly due: Map<number, string[]>;
  order: SortedKeys | undefined;
}

class MemoryStore implements Store {
  readonly guarantees: Guarantees = { atomic: true, readYourWrites: true, durable: "none" };
  readonly now?: () => number;
  #tables = new Map<Key[0], Table>();
  #swept: number;
  #watchers = new Watchers();
  #commits = 0;
  #closed = false;
  #start: number;
  /** Milliseconds since the start. */
  #now: () => number;

  readonly #clocks: Clocks;
  /** Made by the first commit: Node loads its clock in a millisecond, which is much of a start over stdio. */
  #guard: SweepGuard | undefined;

  constructor(clocks: Clocks) {
    const now = clocks.now ?? Date.now;
    if (clocks.now) this.now = clocks.now;
    this.#clocks = clocks;
    const start = now();
    this.#start = start;
    this.#now = () => now() - start;
    this.#swept = 0;
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    this.#ensureOpen();
    const record = this.#live(key);
    return record && this.#toEntry(key, record) as Entry<Value>;
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    this.#ensureOpen();
    const { after, limit = 100, reverse = false } = options;
    const now = this.#now();
    const entries: Entry<Value>[] = [];
    if (limit <= 0) return entries;
    for (const kind of prefix.length > 0 ? [prefix[0]!] : this.#kinds(reverse)) {
      if (after?.[0] !== undefined && after[0] !== kind && isBehind(after[0], kind, reverse)) continue;
      const table = this.#tables.get(kind);
      if (!table) continue;
      const from = after?.[0] === kind ? withoutKind(after) : undefined;
      const { low, high } = pageRange(withoutKind(prefix), { after: from, reverse });
      table.order ??= new SortedKeys(table.records.keys());
      for (const id of table.order.between(low, high, reverse)) {
        const record = table.records.get(id)!;
        if (isLive(record, now)) {
          record.key ??= [kind, ...decodeKey(id).slice(1)];
          entries.push(this.#toEntry(record.key, record) as Entry<Value>);
        }
        if (entries.length >= limit) return entries;
      }
    }
    return entries;
  }

  async commit({ check, set, remove }: Commit): Promise<boolean> {
    this.#ensureOpen();
    this.#guard ??= new SweepGuard(this.#clocks);
    if (check) {
      for (const { key, version } of check) {
        const record = this.#live(key);
        if ((record ? String(record.version) : null) !== version) return false;
      }
    }
    // Values are copied, so that later changes to the object of the caller do not change the record.
    const version = ++this.#commits;
    if (remove) { for (const key of remove) this.#delete(key); }
    if (set) {
      for (const { key, value, expires } of set) {
        const ends = expires === undefined ? undefined : small(expires - this.#start);
        this.#put(key, { value, version, expires: ends });
      }
    }
    if (this.#watchers.size > 0) {
      this.#watchers.changed([...(set ?? []).map((put) => put.key), ...(remove ?? [])]);
    }
    const current = Math.floor(this.#now() / SLICE_MS);
    if (current !== this.#swept) this.#sweepDue(current - 1, SWEEP_BATCH_RECORDS);
    return true;
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    return this.#watchers.watch(prefix);
  }

  async sweep(): Promise<number> {
    return this.#sweepDue(Math.floor(this.#now() / SLICE_MS), Infinity);
  }

  async close(): Promise<void> {
    this.#closed = true;
    this.#watchers.close();
  }

  #toEntry(key: Key, { value, version, expires }: MemoryRecord): Entry {
    return expires === undefined
      ? { key, value, version: String(version) }
      : { key, value, version: String(version), expires: expires + this.#start };
  }

  #ensureOpen(): void {
    if (this.#closed) throw new StoreClosedError();
  }

  /** All kinds in key order. */
  #kinds(reverse: boolean): Key[0][] {
    const kinds = [...this.#tables.keys()].map((kind) => ({ kind, id: encodeKey([kind]) }));
    kinds.sort((a, b) => a.id < b.id ? -1 : 1);
    if (reverse) kinds.reverse();
    return kinds.map(({ kind }) => kind);
  }

  #live(key: Key): MemoryRecord | undefined {
    const record = this.#tables.get(kindOf(key))?.records.get(idOf(key));
    return record && isLive(record, this.#now()) ? record : undefined;
  }

  #put(key: Key, record: MemoryRecord): void {
    let table = this.#tables.get(kindOf(key));
    if (!table) {
      this.#tables.set(kindOf(key), table = { records: new MemoryRows(), due: new Map(), order: undefined });
    }
    const id = idOf(key);
    if (table.order && !table.records.has(id)) table.order.add(id);
    table.records.set(id, record, this.#now());
    if (record.expires === undefined) return;
    const slice = Math.floor(record.expires / SLICE_MS);
    const due = table.due.get(slice);
    if (due) due.push(id);
    else table.due.set(slice, [id]);
  }

  #delete(key: Key): void {
    const table = this.#tables.get(kindOf(key));
    if (table) deleteFrom(table, idOf(key));
  }

  /** Removes expired records of the slices up to `last`. Reads no more than `limit`, so that no commit waits long. */
  #sweepDue(last: number, limit: number): number {
    const now = this.#now();
    // Before the first commit there is nothing to remove.
    if (!this.#guard?.maySweep()) return 0;
    let read = 0;
    let removed = 0;
    for (const table of this.#tables.values()) {
      for (const [slice, ids] of table.due) {
        if (slice > last) continue;
        const later: string[] = [];
        for (; ids.length > 0 && read < limit; read++) {
          const id = ids.pop()!;
          const expires = table.records.expiresOf(id);
          if (expires === undefined) continue;
          if (expires <= now) {
            deleteFrom(table, id);
            removed++;
            // One that was set again with another expiry is in another slice too.
          } else if (Math.floor(expires / SLICE_MS) === slice) later.push(id);
        }
        if (later.length > 0) table.due.set(slice, later);
        else if (ids.length === 0) table.due.delete(slice);
      }
    }
    // The next commit continues otherwise.
    if (read < limit) this.#swept = Math.floor(now / SLICE_MS);
    return removed;
  }
}

function kindOf(key: Key): Key[0] {
  return key[0] ?? "";
}

/** Whether keys of one kind come behind those of another in the direction of a list. */
function isBehind(one: Key[0], other: Key[0], reverse: boolean): boolean {
  return (encodeKey([one]) > encodeKey([other])) !== reverse;
}

/** The key without its kind, which its table has. */
function withoutKind(key: Key): Key {
  return key.length === 0 ? key : ["", ...key.slice(1)];
}

function idOf(key: Key): string {
  const [, part] = key;
  // The usual key is a kind and a name.
  return key.length === 2 && typeof part === "string" ? encodeName(part) : encodeKey(withoutKind(key));
}

function deleteFrom({ records, order }: Table, id: string): void {
  if (records.delete(id)) order?.delete(id);
}

/** The same number, represented as a small integer if possible. */
function small(value: number): number {
  const integer = value | 0;
  return integer === value ? integer : value;
}

function isLive({ expires }: MemoryRecord, now: number): boolean {
  return expires === undefined || expires > now;
}
