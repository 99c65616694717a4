/**
 * The store in one SQLite file, through `node:sqlite` (Node, Deno and Bun): the embedded default.
 *
 * Commits that arrive together share one transaction, hence one wait for the disk (group commit). Several
 * processes may use one file: SQLite's lock orders their commits, and `PRAGMA data_version` tells a watcher
 * that another process wrote.
 *
 * @module
 */
import { DatabaseSync, type StatementSync } from "node:sqlite";
import { setImmediate } from "node:timers";
import { Chores } from "./chores.ts";
import { decodeKey, encodeKey, pageRange } from "./key.ts";
import {
  type Commit,
  type Entry,
  type Guarantees,
  type Key,
  type ListOptions,
  type Store,
  StoreUnavailableError,
} from "./store.ts";
import { Watchers } from "./watchers.ts";

export interface SqliteOptions {
  /**
   * What an acknowledged commit outlives: the machine's `power` (each group of commits waits for the disk),
   * or only the `process` (a power cut may take the last ones; kill -9 takes none).
   * @default "power"
   */
  readonly durable?: "power" | "process";
  /** How long to wait for another process's write, in milliseconds. @default 5000 */
  readonly busyTimeout?: number;
  /** How often expired records are removed, in milliseconds. @default 60000 */
  readonly sweepEvery?: number;
  /** Milliseconds since the epoch, for tests. */
  readonly now?: () => number;
}

interface Row {
  key: string;
  value: string | Uint8Array;
  version: number;
  expires: number | null;
}

/** A commit in the engine's terms, made before it joins others: what cannot be written fails alone. */
interface Prepared {
  readonly check: readonly { readonly id: string; readonly version: string | null }[];
  readonly set: readonly {
    readonly id: string;
    readonly stored: string | Uint8Array;
    readonly expires: number | null;
  }[];
  readonly remove: readonly string[];
  readonly changed: readonly Key[];
}

interface Waiting {
  readonly prepared: Prepared;
  readonly resolve: (done: boolean) => void;
  readonly reject: (reason: unknown) => void;
}

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS record (
    key TEXT PRIMARY KEY, value ANY NOT NULL, version INTEGER NOT NULL, expires INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS record_expires ON record (expires) WHERE expires IS NOT NULL;
  CREATE TABLE IF NOT EXISTS sequence (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
  INSERT OR IGNORE INTO sequence VALUES (1, 0);
`;

/** How many expired records one sweep statement removes, so that no write waits long behind it. */
const SWEEP_BATCH = 1000;
/** How often a watcher looks whether another process wrote, in milliseconds. */
const LOOK_EVERY = 250;

/**
 * Opens (or makes) the file. `":memory:"` keeps everything in the process.
 * @throws {Error} when the file is no SQLite database or cannot be opened
 */
export function sqliteStore(path: string, options: SqliteOptions = {}): Store {
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
  #sweepSome: StatementSync;
  #dataVersion: StatementSync;
  #waiting: Waiting[] = [];
  #watchers = new Watchers();
  #seenDataVersion = 0;
  #isLooking = false;
  #chores = new Chores();
  #now: () => number;
  #closed = false;

  constructor(path: string, options: SqliteOptions) {
    const { durable = "power", busyTimeout = 5000, sweepEvery = 60_000, now = Date.now } = options;
    this.guarantees = { atomic: true, readYourWrites: true, durable: path === ":memory:" ? "none" : durable };
    this.#now = now;
    const database = new DatabaseSync(path);
    this.#database = database;
    database.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeout)}`);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec(`PRAGMA synchronous = ${durable === "power" ? "FULL" : "NORMAL"}`);
    database.exec(SCHEMA);
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
    this.#sweepSome = database.prepare(
      "DELETE FROM record WHERE key IN (SELECT key FROM record WHERE expires <= ? ORDER BY expires LIMIT ?)",
    );
    this.#dataVersion = database.prepare("PRAGMA data_version");
    this.#chores.every(sweepEvery, () => this.sweep());
  }

  async get<Value>(key: Key): Promise<Entry<Value> | undefined> {
    const row = this.#select.get(encodeKey(key), this.#now()) as Row | undefined;
    return row && toEntry(key, row);
  }

  async list<Value>(prefix: Key, options: ListOptions = {}): Promise<Entry<Value>[]> {
    const { limit = 100, reverse = false } = options;
    const { low, high } = pageRange(prefix, options);
    const statement = reverse ? this.#descending : this.#ascending;
    const rows = statement.all(low, high, this.#now(), Math.max(0, limit)) as unknown as Row[];
    return rows.map((row) => toEntry(decodeKey(row.key), row));
  }

  commit(commit: Commit): Promise<boolean> {
    if (this.#closed) return Promise.reject(new Error("Cannot use the store: it is closed"));
    return new Promise((resolve, reject) => {
      this.#waiting.push({ prepared: prepare(commit), resolve, reject });
      // After the current round of input: whatever else arrives in it joins the same transaction.
      if (this.#waiting.length === 1) setImmediate(() => this.#flush());
    });
  }

  watch(prefix: Key): ReadableStream<readonly Key[]> {
    if (!this.#isLooking) {
      this.#isLooking = true;
      this.#seenDataVersion = this.#readDataVersion();
      this.#chores.every(LOOK_EVERY, async () => this.#look());
    }
    return this.#watchers.watch(prefix);
  }

  async sweep(): Promise<number> {
    let removed = 0;
    while (!this.#closed) {
      const { changes } = this.#sweepSome.run(this.#now(), SWEEP_BATCH);
      removed += Number(changes);
      if (Number(changes) < SWEEP_BATCH) break;
      // Lets requests through between two batches.
      await new Promise((resolve) => setImmediate(resolve));
    }
    return removed;
  }

  async close(): Promise<void> {
    if (this.#closed) return;
    this.#flush();
    this.#closed = true;
    this.#chores.stop();
    this.#watchers.close();
    this.#database.close();
  }

  /** Runs every waiting commit in one transaction, then acknowledges them. */
  #flush(): void {
    const waiting = this.#waiting;
    if (waiting.length === 0 || this.#closed) return;
    this.#waiting = [];
    let outcomes: boolean[];
    try {
      this.#database.exec("BEGIN IMMEDIATE");
      try {
        outcomes = waiting.map(({ prepared }) => this.#apply(prepared));
        this.#database.exec("COMMIT");
      } catch (error) {
        // A full disk rolls back by itself; anything else needs telling.
        if (this.#database.isTransaction ?? true) tryRollback(this.#database);
        throw error;
      }
    } catch (error) {
      for (const { reject } of waiting) reject(explain(error));
      return;
    }
    waiting.forEach(({ prepared, resolve }, i) => {
      resolve(outcomes[i]!);
      if (outcomes[i] && this.#watchers.size > 0) this.#watchers.changed(prepared.changed);
    });
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

  #look(): void {
    const dataVersion = this.#readDataVersion();
    if (dataVersion === this.#seenDataVersion) return;
    this.#seenDataVersion = dataVersion;
    this.#watchers.changedAll();
  }

  /** Changes when another connection commits, never by our own commits. */
  #readDataVersion(): number {
    return (this.#dataVersion.get() as { data_version: number }).data_version;
  }
}

function prepare({ check = [], set = [], remove = [] }: Commit): Prepared {
  return {
    check: check.map(({ key, version }) => ({ id: encodeKey(key), version })),
    set: set.map(({ key, value, expires }) => ({
      id: encodeKey(key),
      stored: value instanceof Uint8Array ? value : JSON.stringify(value),
      expires: expires === undefined ? null : Math.ceil(expires),
    })),
    remove: remove.map(encodeKey),
    changed: [...set.map((put) => put.key), ...remove],
  };
}

function toEntry<Value>(key: Key, { value, version, expires }: Row): Entry<Value> {
  const content = typeof value === "string" ? JSON.parse(value) : new Uint8Array(value) as Value;
  const entry = { key, value: content, version: String(version) };
  return expires === null ? entry : { ...entry, expires };
}

/** Another process that holds the lock for too long, a full disk, a disk that fails: what may pass by itself. */
const PASSING = new Set([5, 6, 10, 13]);
/** The same in SQLite's words: Deno's `node:sqlite` leaves the code out. */
const PASSING_WORDS = /database (table )?is locked|database or disk is full|disk I\/O error/;

/** SQLite's own error, or that it is out of reach for a while (https://sqlite.org/rescode.html). */
function explain(error: unknown): unknown {
  const { errcode, message } = error as { errcode?: number; message?: string };
  const passes = errcode === undefined ? PASSING_WORDS.test(String(message)) : PASSING.has(errcode & 0xff);
  return passes ? new StoreUnavailableError(`SQLite cannot write now (${message})`, { cause: error }) : error;
}

function tryRollback(database: DatabaseSync): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // No transaction was left to roll back.
  }
}
