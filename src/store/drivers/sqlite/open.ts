/**
 * Opens a SQLite database for the store: applies settings, creates tables, and refuses databases of other programs.
 *
 * @module
 */
import process from "node:process";
import type { DatabaseSync } from "node:sqlite";
import { requireVersion, StoreFormatError } from "../../format.ts";
import { isLocked } from "./rows.ts";

// Values stay out of the tree of the keys: SQLite reads a long entry whole whenever a search compares with it.
const RECORDS = `CREATE TABLE IF NOT EXISTS record (
    id INTEGER PRIMARY KEY, key TEXT NOT NULL UNIQUE, value ANY NOT NULL, version INTEGER NOT NULL, expires INTEGER
  ) STRICT;`;
const EXPIRY_INDEX =
  "CREATE INDEX IF NOT EXISTS record_expires ON record (expires) WHERE expires IS NOT NULL;";
const SEQUENCE = `
  CREATE TABLE IF NOT EXISTS sequence (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
  INSERT OR IGNORE INTO sequence VALUES (1, 0);
`;

/** The size to which SQLite truncates the write-ahead log when it restarts it. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

export interface DatabaseSettings {
  readonly durable: "power" | "process";
  /** Milliseconds. */
  readonly busyTimeout: number;
}

/**
 * The module `node:sqlite`. It is not imported, because an import that fails cannot say what is needed instead.
 * @param load finds a module of the runtime, for tests
 * @throws {Error} when this version of the runtime does not have it
 */
export function loadSqlite(
  load: (name: "node:sqlite") => typeof import("node:sqlite") | undefined = (name) =>
    process.getBuiltinModule?.(name),
): typeof import("node:sqlite") {
  const sqlite = load("node:sqlite");
  if (sqlite) return sqlite;
  throw new Error(
    `SQLite needs the module node:sqlite, which Node ${process.version} does not have. Use Node 22.18 or later`,
  );
}

/**
 * Opens the database and creates missing tables.
 * @throws {StoreFormatError} for a database of another program, or of a format that this version does not read
 * @throws {Error} when the file is not a SQLite database or cannot be opened
 */
export function openDatabase(path: string, { durable, busyTimeout }: DatabaseSettings): DatabaseSync {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(path);
  try {
    setBusyTimeout(database, busyTimeout);
    requireOwnTables(database);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec(`PRAGMA synchronous = ${durable === "power" ? "FULL" : "NORMAL"}`);
    database.exec(`PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`);
    rebuildRecords(database);
    database.exec(RECORDS + EXPIRY_INDEX + SEQUENCE);
    // Otherwise the first commit would write the log of a process that was killed, while a request waits.
    emptyLog(database);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

/**
 * Gives a table of an earlier version its current form. Every version can use both, with the same statements; so the
 * table stays as it is where there is no space for a copy.
 */
export function rebuildRecords(database: DatabaseSync): void {
  if (hasRowIds(database)) return;
  try {
    database.exec("BEGIN IMMEDIATE");
    if (!hasRowIds(database)) {
      database.exec(`
        DROP INDEX IF EXISTS record_expires;
        ALTER TABLE record RENAME TO earlier_record;
        ${RECORDS}
        INSERT INTO record (key, value, version, expires) SELECT key, value, version, expires FROM earlier_record;
        DROP TABLE earlier_record;
        ${EXPIRY_INDEX}
      `);
    }
    database.exec("COMMIT");
  } catch {
    if (database.isTransaction ?? true) tryRollback(database);
  }
}

/** Whether the table of records has the column `id`, or does not exist yet; that of an earlier version has none. */
export function hasRowIds(database: DatabaseSync): boolean {
  const select = database.prepare("SELECT sql FROM sqlite_schema WHERE type = 'table' AND name = 'record'");
  return !/WITHOUT ROWID$/.test(String(select.get()?.sql ?? ""));
}

/** Ends a transaction, which SQLite may have ended itself. */
export function tryRollback(database: DatabaseSync): void {
  try {
    database.exec("ROLLBACK");
  } catch {
    // There is none.
  }
}

function requireOwnTables(database: DatabaseSync): void {
  const version = readUserVersion(database);
  if (version !== 0) requireVersion(version);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = tables.map(({ name }) => name);
  if (names.length === 0 || names.includes("record")) return;
  throw new StoreFormatError(
    `The file is a database of another program (tables: ${names.slice(0, 5).join(", ")}). Use another file`,
  );
}

/** The number in the file header that SQLite keeps for applications; 0 when it was not set. */
export function readUserVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()!.user_version);
}

/**
 * Writes the write-ahead log into the database and truncates it, as far as no other process reads or writes now: it does
 * not wait for them. While another process reads in a transaction, the log grows.
 */
export function emptyLog(database: DatabaseSync): void {
  try {
    withBusyTimeout(database, 0, () => database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get());
  } catch {
    // The next commit reports a disk that is full or fails.
  }
}

/** How long the process stops for the lock of another one: most commits are shorter. */
const LOCK_WAIT_MS = 20;

/** Work that finds a lock fails after a moment from now on: while SQLite waits, it stops the whole process. */
export function waitBriefly(database: DatabaseSync, busyTimeout: number): void {
  setBusyTimeout(database, Math.min(LOCK_WAIT_MS, busyTimeout));
}

/** Runs a read, which waits for a lock only while another process opens, recovers or closes the database. */
export function readPatiently<Result>(
  database: DatabaseSync,
  busyTimeout: number,
  read: () => Result,
): Result {
  try {
    return read();
  } catch (error) {
    if (!isLocked(error)) throw error;
    return withBusyTimeout(database, busyTimeout, read);
  }
}

function withBusyTimeout<Result>(database: DatabaseSync, milliseconds: number, work: () => Result): Result {
  const { timeout } = database.prepare("PRAGMA busy_timeout").get() as { timeout: number };
  setBusyTimeout(database, milliseconds);
  try {
    return work();
  } finally {
    setBusyTimeout(database, timeout);
  }
}

function setBusyTimeout(database: DatabaseSync, milliseconds: number): void {
  database.exec(`PRAGMA busy_timeout = ${Math.trunc(milliseconds)}`);
}
