/**
 * The file of a SQLite database: only its owner may read and write it, whatever the umask, since it holds private keys.
 *
 * @module
 */
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import process from "node:process";

const PRIVATE = 0o600;
const OTHERS = 0o077;
/** What SQLite puts beside a database; it gives them the mode of the database when it makes them. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/** Where a warning goes that nobody asked for: the runtime's own warnings. */
export function emitWarning(message: string): void {
  process.emitWarning(message);
}

/** The file that SQLite opens for this name; `undefined` when the database is in memory or temporary. */
export function databaseFile(name: string): string | undefined {
  if (!name.startsWith("file:")) return name === ":memory:" || name === "" ? undefined : name;
  // https://sqlite.org/uri.html
  const [path = "", query = ""] = name.slice("file:".length).split("#")[0]!.split("?", 2);
  const file = decodeURIComponent(path.replace(/^\/\/[^/]*/, ""));
  if (file === ":memory:" || file === "" || /(^|&)mode=memory(&|$)/.test(query)) return undefined;
  return file;
}

/**
 * Makes the database file readable by its owner only before SQLite opens it, and what SQLite keeps beside it.
 * @throws {Error} when the file cannot be made
 */
export function protectDatabase(file: string, onWarning: (message: string) => void): void {
  if (process.platform === "win32") return;
  closeSync(openSync(file, "a", PRIVATE));
  for (const path of [file, ...COMPANIONS.map((ending) => file + ending)]) protectFile(path, onWarning);
}

/** Takes the access of other users to a file away, if it is there and they have any. */
function protectFile(path: string, onWarning: (message: string) => void): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & OTHERS) === 0) return;
  try {
    chmodSync(path, PRIVATE);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    // Another process removed it: SQLite does so when the last connection closes.
    if (code === "ENOENT") return;
    onWarning(
      `Other users of this machine can open "${path}", which holds private keys, and its mode cannot be changed (${message}): make it 0600`,
    );
  }
}
