/**
 * Converts commits to SQLite parameters, rows to entries, and errors of SQLite.
 *
 * @module
 */
import { encodeKey } from "../../key.ts";
import { type Commit, type Entry, type Key, StoreUnavailableError } from "../../store.ts";

export interface Row {
  key: string;
  value: string | Uint8Array;
  version: number;
  expires: number | null;
}

/** A commit as SQLite parameters. Converted before it joins a group, so that an invalid value fails only its commit. */
export interface Prepared {
  readonly check: readonly { readonly id: string; readonly version: string | null }[];
  readonly set: readonly {
    readonly id: string;
    readonly stored: string | Uint8Array;
    readonly expires: number | null;
  }[];
  readonly remove: readonly string[];
  readonly bytes: number;
  readonly changed: readonly Key[];
}

/** @throws {TypeError} for a value that is not JSON */
export function prepare({ check = [], set = [], remove = [] }: Commit): Prepared {
  const puts = set.map(({ key, value, expires }) => ({
    id: encodeKey(key),
    stored: value instanceof Uint8Array ? value : JSON.stringify(value),
    expires: expires === undefined ? null : Math.ceil(expires),
  }));
  return {
    check: check.map(({ key, version }) => ({ id: encodeKey(key), version })),
    set: puts,
    bytes: puts.reduce((sum, { stored }) => sum + stored.length, 0),
    remove: remove.map(encodeKey),
    changed: [...set.map((put) => put.key), ...remove],
  };
}

export function toEntry<Value>(key: Key, { value, version, expires }: Row): Entry<Value> {
  const content = typeof value === "string" ? JSON.parse(value) : new Uint8Array(value) as Value;
  const entry = { key, value: content, version: String(version) };
  return expires === null ? entry : { ...entry, expires };
}

/** Result codes of temporary errors: locked (5, 6), read-only (8), disk I/O error (10), disk full (13). */
const TEMPORARY_CODES = new Set([5, 6, 8, 10, 13]);
/** The messages of these errors: `node:sqlite` of Deno has no code. */
const TEMPORARY_MESSAGES =
  /database (table )?is locked|readonly database|database or disk is full|disk I\/O error/;

/** The error to throw: {@linkcode StoreUnavailableError} for temporary ones (https://sqlite.org/rescode.html). */
export function explain(error: unknown): unknown {
  const { errcode, message } = error as { errcode?: number; message?: string };
  const isTemporary = errcode === undefined
    ? TEMPORARY_MESSAGES.test(String(message))
    : TEMPORARY_CODES.has(errcode & 0xff);
  return isTemporary
    ? new StoreUnavailableError(`SQLite is unavailable (${message})`, { cause: error })
    : error;
}

/** Whether another process has the lock. */
export function isLocked(error: unknown): boolean {
  const { errcode, message } = error as { errcode?: number; message?: string };
  return errcode === undefined ? /is locked/.test(String(message)) : (errcode & 0xff) === 5;
}

/** The result of work. @throws what {@linkcode explain} makes of its error */
export function attempt<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    throw explain(error);
  }
}
