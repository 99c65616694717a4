/**
 * Copies a SQLite store into one new file, while servers go on writing: the copy has all commits up to one moment
 * (https://sqlite.org/lang_vacuum.html#vacuuminto).
 *
 * @module
 */
import { closeSync, openSync } from "node:fs";
import { DatabaseSync } from "node:sqlite";

/**
 * Writes the copy, which only its owner can read. @param to a file that does not exist
 * @throws {Error} when `from` is not a database or `to` cannot be written
 */
export function backupSqlite(from: string, to: string): void {
  closeSync(openSync(to, "wx", 0o600));
  const database = new DatabaseSync(from, { readOnly: true });
  try {
    database.prepare("VACUUM INTO ?").run(to);
  } finally {
    database.close();
  }
}

/** Checks that every page of the file is intact. @throws {Error} with what is not */
export function checkSqlite(file: string): void {
  let problem: string | undefined;
  try {
    const database = new DatabaseSync(file, { readOnly: true });
    try {
      const rows = database.prepare("PRAGMA integrity_check").all() as { integrity_check: string }[];
      problem = rows.map(({ integrity_check }) => integrity_check).find((text) => text !== "ok");
    } finally {
      database.close();
    }
  } catch (error) {
    problem = (error as Error).message;
  }
  if (problem !== undefined) throw new Error(`The file is damaged, or no backup: ${problem}`);
}
