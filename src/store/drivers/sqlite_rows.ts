/**
 * What the SQLite driver reads and writes: commits in the engine's terms, rows as entries, and its errors.
 *
 * @module
 */
import { encodeKey } from "../key.ts";
import { type Commit, type Entry, type Key, StoreUnavailableError } from "../store.ts";

export interface Row {
  key: string;
  value: string | Uint8Array;
  version: number;
  expires: number | null;
}

/** A commit in the engine's terms, made before it joins others: what cannot be written fails alone. */
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

/** @throws {TypeError} for a value that is no JSON */
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

/** Another process that holds the lock for too long, a full disk, a disk that fails: what may pass by itself. */
const PASSING = new Set([5, 6, 10, 13]);
/** The same in SQLite's words: Deno's `node:sqlite` leaves the code out. */
const PASSING_WORDS = /database (table )?is locked|database or disk is full|disk I\/O error/;

/** SQLite's own error, or that it is out of reach for a while (https://sqlite.org/rescode.html). */
export function explain(error: unknown): unknown {
  const { errcode, message } = error as { errcode?: number; message?: string };
  const passes = errcode === undefined ? PASSING_WORDS.test(String(message)) : PASSING.has(errcode & 0xff);
  return passes ? new StoreUnavailableError(`SQLite cannot write now (${message})`, { cause: error }) : error;
}
