/**
 * Opens a SQLite database as the store needs it: its settings, its tables, and the proof that it is Trivet's.
 *
 * @module
 */
import { DatabaseSync } from "node:sqlite";
import { requireVersion, StoreFormatError } from "../format.ts";

const SCHEMA = `
  CREATE TABLE IF NOT EXISTS record (
    key TEXT PRIMARY KEY, value ANY NOT NULL, version INTEGER NOT NULL, expires INTEGER
  ) STRICT, WITHOUT ROWID;
  CREATE INDEX IF NOT EXISTS record_expires ON record (expires) WHERE expires IS NOT NULL;
  CREATE TABLE IF NOT EXISTS sequence (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL) STRICT;
  INSERT OR IGNORE INTO sequence VALUES (1, 0);
`;

/** What is left of the write-ahead log's file when SQLite begins it anew. */
const MAX_LOG_BYTES = 16 * 1024 * 1024;

export interface DatabaseSettings {
  readonly durable: "power" | "process";
  /** Milliseconds. */
  readonly busyTimeout: number;
}

/**
 * The database, with its tables.
 * @throws {StoreFormatError} for a database of another program, or of a format that this version does not read
 * @throws {Error} when the file is no SQLite database or cannot be opened
 */
export function openDatabase(path: string, { durable, busyTimeout }: DatabaseSettings): DatabaseSync {
  const database = new DatabaseSync(path);
  try {
    database.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeout)}`);
    requireOwnTables(database);
    database.exec("PRAGMA journal_mode = WAL");
    database.exec(`PRAGMA synchronous = ${durable === "power" ? "FULL" : "NORMAL"}`);
    database.exec(`PRAGMA journal_size_limit = ${MAX_LOG_BYTES}`);
    database.exec(SCHEMA);
    // What a process that was killed left would else be written by the first commit, with a request waiting for it.
    emptyLog(database, busyTimeout);
    return database;
  } catch (error) {
    database.close();
    throw error;
  }
}

function requireOwnTables(database: DatabaseSync): void {
  const version = readUserVersion(database);
  if (version !== 0) requireVersion(version);
  const tables = database.prepare("SELECT name FROM sqlite_schema WHERE type = 'table'").all();
  const names = tables.map(({ name }) => name);
  if (names.length === 0 || names.includes("record")) return;
  throw new StoreFormatError(
    `The file is a database of another program (its tables: ${
      names.slice(0, 5).join(", ")
    }). Name a file of Trivet's own`,
  );
}

/** The number that SQLite keeps in the head of the file for its owner; 0 when none was set. */
export function readUserVersion(database: DatabaseSync): number {
  return Number(database.prepare("PRAGMA user_version").get()!.user_version);
}

/**
 * Writes the write-ahead log into the database and empties it, as far as no other process reads or writes at this moment:
 * it waits for none, and SQLite does it again. While somebody reads the log grows.
 * @param busyTimeout what is set again, in milliseconds
 */
export function emptyLog(database: DatabaseSync, busyTimeout: number): void {
  database.exec("PRAGMA busy_timeout = 0");
  try {
    database.prepare("PRAGMA wal_checkpoint(TRUNCATE)").get();
  } catch {
    // A disk that is full or fails is told by the next commit.
  } finally {
    database.exec(`PRAGMA busy_timeout = ${Math.trunc(busyTimeout)}`);
  }
}
