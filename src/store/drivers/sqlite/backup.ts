/**
 * The file of a backup: a SQLite store with all commits up to one moment, copied while servers go on writing
 * (https://sqlite.org/lang_vacuum.html#vacuuminto), and the digest of its records in a table of its own.
 *
 * @module
 */
import { createHash } from "node:crypto";
import { closeSync, openSync, statSync } from "node:fs";
import type { DatabaseSync } from "node:sqlite";
import { decodeKey, encodeKey } from "../../key.ts";
import { loadSqlite } from "./open.ts";
import { explain, type Row, toEntry } from "./rows.ts";

/** A store has no such table: restoring removes it. */
const SEAL = "CREATE TABLE backup (sha256 TEXT NOT NULL) STRICT";
const REMOVE_SEAL = "DROP TABLE IF EXISTS backup";

/**
 * Writes the copy, which only its owner can read. @param to a file that does not exist
 * @throws {Error} when `from` is not a database or `to` cannot be written
 */
export function backupSqlite(from: string, to: string): void {
  closeSync(openSync(to, "wx", 0o600));
  withDatabase(from, { readOnly: true }, (database) => {
    database.prepare("VACUUM INTO ?").run(to);
  });
}

/** Writes the digest of the records into a backup, after which it must not change. */
export function sealBackup(file: string): void {
  withDatabase(file, {}, (database) => {
    database.exec(REMOVE_SEAL);
    database.exec(SEAL);
    database.prepare("INSERT INTO backup VALUES (?)").run(digestRecords(database));
  });
}

/** Removes the digest from a backup that becomes a store, whose records change. */
export function removeSeal(file: string): void {
  withDatabase(file, {}, (database) => database.exec(REMOVE_SEAL));
}

/**
 * Checks every page and record of a backup. Returns whether the digest in it confirmed the records; a backup that an earlier
 * version made has none.
 * @throws {Error} when the file is damaged, or no backup, or when SQLite cannot read it
 */
export function checkBackup(file: string): { readonly isSealed: boolean } {
  try {
    return withDatabase(file, { readOnly: true }, (database) => {
      const pages = database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
      const problem = pages.map(({ integrity_check }) => integrity_check).find((text) => text !== "ok");
      if (problem !== undefined) throw new Error(problem);
      const { page_size: pageBytes } = database.prepare("PRAGMA page_size").get() as { page_size: number };
      // SQLite reads zeros for the missing end of a page.
      if (statSync(file).size % pageBytes !== 0) throw new Error("its last page is not complete");
      const digest = digestRecords(database);
      const isSealed = hasTable(database, "backup");
      if (isSealed && database.prepare("SELECT sha256 FROM backup").get()?.sha256 !== digest) {
        throw new Error("its records do not match its digest");
      }
      return { isSealed };
    });
  } catch (error) {
    // The disk is full or cannot be read, which says nothing about the file.
    if (explain(error) !== error) throw error;
    throw new Error(`The file is damaged, or no backup: ${(error as Error).message}`, { cause: error });
  }
}

/**
 * SHA-256 of all that the tables of a store contain, in hexadecimal.
 * @throws {Error} when a record cannot be read
 */
function digestRecords(database: DatabaseSync): string {
  for (const table of ["record", "sequence"]) {
    if (!hasTable(database, table)) throw new Error(`no table "${table}"`);
  }
  const hash = createHash("sha256");
  hash.update(JSON.stringify(database.prepare("SELECT one, version FROM sequence").all()) + "\n");
  const records = database.prepare("SELECT key, value, version, expires FROM record ORDER BY key");
  for (const row of records.iterate() as Iterable<Row>) {
    const { key, value, version, expires } = row;
    requireReadable(row);
    // With type and length of the value: no two different tables give the same bytes.
    hash.update(JSON.stringify([key, version, expires, typeof value, value.length]) + "\n");
    hash.update(value);
  }
  return hash.digest("hex");
}

/** @throws {Error} for a record that a store would not have written */
function requireReadable(row: Row): void {
  try {
    // `decodeKey` needs the end of the last part.
    if (row.key.endsWith("\u0001") && encodeKey(toEntry(decodeKey(row.key), row).key) === row.key) return;
  } catch {
    // A value that is not JSON.
  }
  throw new Error(`the record ${JSON.stringify(row.key)} cannot be read`);
}

function hasTable(database: DatabaseSync, name: string): boolean {
  return database.prepare("SELECT 1 FROM sqlite_schema WHERE type = 'table' AND name = ?").get(name) !==
    undefined;
}

function withDatabase<Result>(
  file: string,
  options: { readonly readOnly?: boolean },
  work: (database: DatabaseSync) => Result,
): Result {
  const { DatabaseSync } = loadSqlite();
  const database = new DatabaseSync(file, options);
  try {
    return work(database);
  } finally {
    database.close();
  }
}
