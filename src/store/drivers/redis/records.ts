/**
 * The keys of a store in Redis, and the conversion of commits and records.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { encodeKey } from "../../key.ts";
import type { Commit, Entry, Key } from "../../store.ts";

/** An argument of a command. */
export type Argument = string | Buffer;

/** The keys of a store. All have one hash tag, so that they are in one slot of a cluster. */
export interface StoreKeys {
  /** The version of the last commit. */
  readonly version: string;
  /** The sorted set of expiries. */
  readonly expiries: string;
  /** The sorted set of the kinds of records. */
  readonly kinds: string;
  /** The prefix of records. */
  readonly records: string;
  /** The prefix of the sorted sets of keys, one for each kind. */
  readonly indexes: string;
  /** The prefix of the channels of changes, one for each kind. */
  readonly channels: string;
}

/** How long after its expiry Redis removes a record, so that its clock may differ from that of the instances. */
const REMOVAL_DELAY_MS = 300_000;

/** The keys of the store with this name. */
export function storeKeysOf(name: string): StoreKeys {
  const prefix = `{${name}}:`;
  return {
    version: prefix + "version",
    expiries: prefix + "expiries",
    kinds: prefix + "kinds",
    records: prefix + "r:",
    indexes: prefix + "i:",
    channels: prefix + "changes:",
  };
}

/** The keys and arguments of the Lua function for a commit. @param now milliseconds since the epoch */
export function toCommand(
  { version, expiries, kinds, records, indexes, channels }: StoreKeys,
  now: number,
  { check = [], set = [], remove = [] }: Commit,
): [string[], Argument[]] {
  const keys = [version, expiries, kinds];
  const counts = [check.length, remove.length, set.length];
  const args: Argument[] = [String(now), channels, ...counts.map(String)];
  const pushKeys = (key: Key): string => {
    const id = encodeKey(key);
    keys.push(records + id, indexes + encodeKey(key.slice(0, 1)));
    return id;
  };
  for (const { key, version } of check) {
    keys.push(records + encodeKey(key));
    args.push(version ?? "");
  }
  for (const key of remove) args.push(pushKeys(key));
  for (const { key, value, expires } of set) {
    const until = expires === undefined ? undefined : Math.max(1, Math.ceil(expires));
    const isBytes = value instanceof Uint8Array;
    args.push(
      pushKeys(key),
      encodeKey(key.slice(0, 1)),
      until === undefined ? "-" : String(until),
      until === undefined ? "" : String(until + REMOVAL_DELAY_MS),
      isBytes ? "b" : "j",
      isBytes ? Buffer.from(value.buffer, value.byteOffset, value.byteLength) : JSON.stringify(value),
    );
  }
  return [keys, args];
}

/** The record in a value of Redis. */
export function toEntry<Value>(key: Key, found: Buffer): Entry<Value> {
  const first = found.indexOf(32);
  const second = found.indexOf(32, first + 1);
  const expires = found.toString("latin1", first + 1, second);
  const value = found[second + 1] === 98
    ? new Uint8Array(found.subarray(second + 2))
    : JSON.parse(found.toString("utf8", second + 2));
  const version = found.toString("latin1", 0, first);
  return expires === "-" ? { key, value, version } : { key, value, version, expires: Number(expires) };
}
