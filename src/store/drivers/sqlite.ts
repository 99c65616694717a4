/**
 * The store in one SQLite file, through `node:sqlite` (Node, Deno and Bun): the embedded default. Concurrent commits share
 * one transaction and one wait for the disk (group commit). Several processes may use one file: SQLite's lock orders their
 * commits, and a watcher polls `PRAGMA data_version` for commits of other processes.
 *
 * @module
 */
import { checkNames, checkOneOf, checkWhole, type Names } from "../../options/option_check.ts";
import type { DatabaseSync, StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { PeriodicTasks } from "../periodic_tasks.ts";
import { ensureFormatSync, FORMAT_VERSION, type FormatOptions } from "../format.ts";
import { decodeKey, encodeKey, pageRange, prefixRange } from "../key.ts";
import { databaseFile, emitWarning, protectDatabase } from "./sqlite/file.ts";
import { attemptPatiently, CommitQueue } from "./sqlite/commit_queue.ts";
import { attempt, type Prepared, type Row, toEntry } from "./sqlite/rows.ts";
import { emptyLog, openDatabase, readPatiently, readUserVersion, waitBriefly } from "./sqlite/open.ts";
import { prepareSweep } from "./sqlite/sweep.ts";
import { SWEEP_BATCH_RECORDS, SweepGuard } from "../sweep_guard.ts";
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

/** Options of the store in a SQLite file. */
export interface SqliteOptions extends FormatOptions {
  /**
   * What an acknowledged commit survives: a `power` failure (each group of commits waits for the disk), or only the end of
   * the `process`, such as kill -9 (a power failure may lose the last commits).
   * @default "power"
   */
  readonly durable?: "power" | "process";
  /** How long to wait for the lock of another process, in milliseconds. @default 5000 */
  readonly busyTimeout?: number;
  /** How often expired records are removed, in milliseconds. @default 60000 */
  readonly sweepEvery?: number;
  /** How often the write-ahead log is written into the database and emptied, in milliseconds. @default 60000 */
  readonly checkpointEvery?: number;
  /** Called with a warning when the guarantees of this driver are weaker. @default the warnings of the runtime */
  readonly onWarning?: (message: string) => void;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
  /** Milliseconds since any moment, for tests. @default `now`, else `performance.now()` */
  readonly monotonic?: () => number;
}

const NAMES: Names<SqliteOptions> = {
  allowOlder: "boolean",
  durable: "unknown",
  busyTimeout: "number",
  sweepEvery: "number",
  checkpointEvery: "number",
  onWarning: "function",
  now: "function",
  monotonic: "function",
};

/** How often a watcher polls for commits of other processes. */
const POLL_INTERVAL_MS = 250;

/**
 * Opens or creates the file, which only its owner can read. `":memory:"` stores nothing on disk.
 * @throws {StoreFormatError} when its records are of another version
 * @throws {TypeError | RangeError} naming the option and the rule
 * @throws {Error} when the file is not a SQLite database or cannot be opened
 */
export function sqliteStore(path: string, options: SqliteOptions = {}): Store {
  checkNames("sqliteStore", options, NAMES);
  return new SqliteStore(path, options);
}

class SqliteStore implements Store {
  readonly guarantees: Guarantees;
  #database: DatabaseSync;
  #select: StatementSync;
  #selectVersion: StatementSync;
  #ascending: StatementSync;
  #descending: StatementSync;
  #upsert: StatementSync;
  #delete: StatementSync;
  #nextVersion: StatementSync;
  #sweepSome: (now: number) => number;
  #dataVersion: StatementSync;
  readonly #commits: CommitQueue;
  readonly #busyTimeout: number;
  #watchers = new Watchers();
  #seenDataVersion = 0;
  #isPolling = false;
  #tasks = new PeriodicTasks();
  #guard: SweepGuard;
  #now: () => number;
  #closed = false;

  constructor(path: string, options: SqliteOptions) {
    const durable = checkOneOf("sqliteStore.durable", options.durable, "power", "process");
    const busyTimeout = checkWhole("sqliteStore.busyTimeout", options.busyTimeout ?? 5000, 0);
    const sweepEvery = checkWhole("sqliteStore.sweepEvery", options.sweepEvery ?? 60_000, 1);
    this.#busyTimeout = busyTimeout;
    const checkpointEvery = checkWhole("sqliteStore.checkpointEvery", options.checkpointEvery ?? 60_000, 1);
    const file = databaseFile(path);
    this.guarantees = { atomic: true, readYourWrites: true, durable: file === undefined ? "none" : durable };
    if (file !== undefined) protectDatabase(file, options.onWarning ?? emitWarning);
    this.#now = options.now ?? Date.now;
    this.#guard = new SweepGuard(options);
    const database = this.#database = openDatabase(path, { durable, busyTimeout });
    const alive = "(expires IS NULL OR expires > ?)";
    this.#select = database.prepare(
      `SELECT key, value, version, expires FROM record WHERE key = ? AND ${alive}`,
    );
    this.#selectVersion = database.prepare(`SELECT version FROM record WHERE key = ? AND ${alive}`);
    const page =
      `SELECT key, value, version, expires FROM record WHERE key > ? AND key < ? AND ${alive} ORDER BY key`;
    this.#ascending = database.prepare(`${page} ASC LIMIT ?`);
    this.#descending = database.prepare(`${page} DESC LIMIT ?`);
    this.#upsert = database.prepare(
      `INSERT INTO record (key, value, version, expires) VALUES (?, ?, ?, ?)
       ON CONFLICT (key) DO UPDATE SET value = excluded.value, version = excluded.version, expires = excluded.expires`,
    );
    this.#delete = database.prepare("DELETE FROM record WHERE key = ?");
    this.#nextVersion = database.prepare("UPDATE sequence SET version = version + 1 RETURNING version");
    this.#sweepSome = prepareSweep(database, SWEEP_BATCH_RECORDS);
    this.#dataVersion = database.prepare("PRAGMA data_version");
    try {
      this.#ensureFormat(options);
      waitBriefly(database, busyTimeout);
    } catch (error) {
      database.close();
      throw error;
    }
    this.#commits = new CommitQueue(
      database,
      busyTimeout,
      (commit) => this.#apply(commit),
      ({ changed }) => this.#watchers.size > 0 && this.#watchers.changed(changed),
    );
    this.#tasks.every(sweepEvery, () => this.sweep());
    if (file !== undefined) this.#tasks.every(checkpointEvery, async () => emptyLog(database));
  }

  #ensureFormat(options: FormatOptions): void {
    const database = this.#database;
    const isMarked = ensureFormatSync((step) => {
      if ("get" in step) {
        const row = this.#select.get(encodeKey(step.get), this.#now()) as Row | undefined;
        return row && toEntry(step.get, row).value;
      }
      if ("list" in step) {
        const { low, high } = prefixRange(step.list);
        const rows = this.#ascending.all(low, high, this.#now(), step.limit) as unknown as Row[];
        return rows.map((row) => toEntry(step.list, row).value);
      }
      const { version } = this.#nextVersion.get() as { version: number };
      this.#upsert.run(encodeKey(step.put), JSON.stringify(step.value), version, null);
    }, options);
    // For SQLite's own tools, and for later versions, which can read it before they know the tables.
    if (isMarked && readUserVersion(database) !== FORMAT_VERSION) {
      database.exec(`PRAGMA user_version = ${FORMAT_VERSION}`);
    }
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    if (this.#closed) throw new StoreClosedError();
    const row = this.#read(() => this.#select.get(encodeKey(key), this.#now()) as Row | undefined);
    return row && toEntry(key, row);
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    if (this.#closed) throw new StoreClosedError();
    const { limit = 100, reverse = false } = options;
    const { low, high } = pageRange(prefix, options);
    const statement = reverse ? this.#descending : this.#ascending;
    const rows = this.#read(() =>
      statement.all(low, high, this.#now(), Math.max(0, limit)) as unknown as Row[]
    );
    return rows.map((row) => toEntry(decodeKey(row.key), row));
  }

  commit(commit: Commit): Promise<boolean> {
    if (this.#closed) return Promise.reject(new StoreClosedError());
    return this.#commits.add(commit);
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    if (!this.#isPolling) {
      this.#isPolling = true;
      this.#seenDataVersion = this.#readDataVersion();
      this.#tasks.every(POLL_INTERVAL_MS, async () => this.#reportForeignCommits());
    }
    return this.#watchers.watch(prefix);
  }

  async sweep(): Promise<number> {
    if (!this.#guard.maySweep()) return 0;
    let removed = 0;
    while (!this.#closed) {
      const count = await attemptPatiently(
        this.#busyTimeout,
        () => this.#closed ? 0 : this.#sweepSome(this.#now()),
      );
      removed += count;
      if (count < SWEEP_BATCH_RECORDS) break;
      // Lets requests run between two batches.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return removed;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#commits.finish();
    this.#closed = true;
    this.#tasks.stop();
    this.#watchers.close();
    // SQLite does this when the last connection closes, but the command line may have another connection.
    emptyLog(this.#database);
    this.#database.close();
  }

  #read<Result>(read: () => Result): Result {
    return attempt(() => readPatiently(this.#database, this.#busyTimeout, read));
  }

  #apply({ check, set, remove }: Prepared): boolean {
    const now = this.#now();
    for (const { id, version } of check) {
      const row = this.#selectVersion.get(id, now) as { version: number } | undefined;
      if ((row ? String(row.version) : null) !== version) return false;
    }
    for (const id of remove) this.#delete.run(id);
    if (set.length === 0) return true;
    const { version } = this.#nextVersion.get() as { version: number };
    for (const { id, stored, expires } of set) this.#upsert.run(id, stored, version, expires);
    return true;
  }

  #reportForeignCommits(): void {
    const dataVersion = this.#readDataVersion();
    if (dataVersion === this.#seenDataVersion) return;
    this.#seenDataVersion = dataVersion;
    this.#watchers.changedAll();
  }

  /** Changes when another connection commits, not by commits of this one. */
  #readDataVersion(): number {
    return (this.#dataVersion.get() as { data_version: number }).data_version;
  }
}
