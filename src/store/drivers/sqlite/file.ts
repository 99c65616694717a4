/**
 * Makes the file of a SQLite database accessible to its owner only, independent of the umask: it contains private keys.
 *
 * @module
 */
import { chmodSync, closeSync, openSync, statSync } from "node:fs";
import { dirname } from "node:path";
import process from "node:process";
import { makeFolder } from "./make_folder.ts";

const PRIVATE = 0o600;
const PRIVATE_FOLDER = 0o700;
const OTHERS = 0o077;
/** Files that SQLite creates beside a database, with the mode of the database. */
const COMPANIONS = ["-wal", "-shm", "-journal"];

/** Emits a warning through the runtime; the default of `onWarning`. */
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
 * Makes the folder of the database file where it is missing, and restricts the file and its companions to their owner,
 * before SQLite opens them.
 * @throws {Error} when the file cannot be created
 */
export function protectDatabase(file: string, onWarning: (message: string) => void): void {
  makeFolder(dirname(file), PRIVATE_FOLDER);
  if (process.platform === "win32") return;
  closeSync(openSync(file, "a", PRIVATE));
  for (const path of [file, ...COMPANIONS.map((ending) => file + ending)]) protectFile(path, onWarning);
}

/** Removes the access of other users to a file, if it exists. */
function protectFile(path: string, onWarning: (message: string) => void): void {
  const mode = statSync(path, { throwIfNoEntry: false })?.mode;
  if (mode === undefined || (mode & OTHERS) === 0) return;
  try {
    chmodSync(path, PRIVATE);
  } catch (error) {
    const { code, message } = error as { code?: string; message: string };
    // Another process removed it, as SQLite does when the last connection closes.
    if (code === "ENOENT") return;
    onWarning(
      `Other users of this machine can open "${path}", which holds private keys, and its mode cannot be changed (${message}). Set its mode to 0600`,
    );
  }
}
