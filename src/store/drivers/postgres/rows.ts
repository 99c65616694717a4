/**
 * The statements of the PostgreSQL driver, and the conversion of addresses, commits and rows.
 *
 * @module
 */
import { encodeKey } from "../../key.ts";
import type { Commit, Entry, Key } from "../../store.ts";

/** A record, as the statements return it. */
export interface Row {
  readonly key?: string;
  readonly value: string | null;
  readonly bytes: Uint8Array | null;
  readonly version: string;
  readonly expires: string | null;
}

/** What the driver sends to the database. */
export interface Statements {
  readonly get: string;
  readonly ascending: string;
  readonly descending: string;
  readonly commit: string;
  readonly commits: string;
  readonly sweep: string;
}

/**
 * Settings for plans that read by an index. A connection keeps its plans, and one that was made while the table was small
 * reads all of it, until its next ANALYZE: with 100,000 records a list takes 18 ms so instead of 0.2. Where a plan must read
 * a table, such as that of the watchers, PostgreSQL counts this as so dear that it would compile it (`jit`).
 */
export const BY_INDEX = { enable_seqscan: "off", enable_bitmapscan: "off", jit: "off" } as const;

/**
 * The statements, for the tables of a schema. Those of commits have their settings in the transaction, so that they work
 * behind a pooler; a list behind one is planned each time.
 * @param lockTimeout milliseconds for which a commit waits for locks
 */
export function statementsOf(schema: string, lockTimeout = 0): Statements {
  const settings = Object.entries({ lock_timeout: lockTimeout, ...BY_INDEX })
    .map(([name, value]) => `set_config('${name}', '${value}', true) <> ''`).join(" AND ");
  const alive = (parameter: string) => `(expires IS NULL OR expires > ${parameter}::bigint)`;
  const columns = "value, bytes, version::text, expires::text";
  const page = `SELECT key, ${columns} FROM ${schema}.record WHERE key > $1 AND key < $2 AND ${alive("$3")}`;
  return {
    get: `SELECT ${columns} FROM ${schema}.record WHERE key = $1 AND ${alive("$2")}`,
    ascending: `${page} ORDER BY key LIMIT $4`,
    descending: `${page} ORDER BY key DESC LIMIT $4`,
    commit: `SELECT ${schema}.commit($1, $2, $3, $4, $5, $6, $7, $8) AS done WHERE ${settings}`,
    commits:
      `SELECT ${schema}.commits($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12) AS done WHERE ${settings}`,
    // The lock ensures that one instance sweeps at a time. Locked rows are left for the next sweep.
    sweep: `
      WITH turn AS MATERIALIZED (SELECT pg_try_advisory_xact_lock(hashtextextended('${schema} sweep', 0)) AS mine),
      dead AS (
        SELECT key FROM ${schema}.record WHERE (SELECT mine FROM turn) AND expires <= $1::bigint
        ORDER BY expires LIMIT $2::int FOR UPDATE SKIP LOCKED
      ),
      gone AS (DELETE FROM ${schema}.record USING dead WHERE record.key = dead.key RETURNING 1)
      SELECT count(*)::int AS removed FROM gone`,
  };
}

/** Takes the parameters that are not those of postgres.js out of an address. @throws {TypeError} naming the parameter */
export function readAddress(
  address: string,
): { url: string; schema: string; timeout: number; pooled: boolean; max: number } {
  const [before, query = ""] = address.split("?", 2) as [string, string?];
  if (!/^postgres(ql)?:\/\//.test(address)) throw new TypeError("The address must begin with postgres://");
  const parameters = new URLSearchParams(query);
  const schema = parameters.get("schema") ?? "trivet";
  if (!/^[a-z_][a-z0-9_]{0,50}$/.test(schema)) {
    throw new TypeError(`schema must be lower-case letters, digits and _, but is "${schema}"`);
  }
  const timeout = Number(parameters.get("timeout") ?? 5);
  if (!(timeout > 0)) throw new TypeError("timeout must be a number of seconds above 0");
  const pgbouncer = parameters.get("pgbouncer") ?? "false";
  if (!/^(true|false)$/.test(pgbouncer)) {
    throw new TypeError(`pgbouncer must be true or false, but is "${pgbouncer}"`);
  }
  const pooled = pgbouncer === "true";
  for (const [name, mode] of parameters) {
    // postgres.js uses no TLS, or does not check the certificate, for some of the others. `ssl` is its own name.
    if (/^ssl(mode)?$/.test(name) && !/^(disable|require|verify-full)$/.test(mode)) {
      throw new TypeError(`${name} must be disable, require or verify-full, but is "${mode}"`);
    }
  }
  // Taken out of the address: postgres.js would read it as text, and open one connection.
  const max = Number(parameters.get("max") ?? 10);
  if (!Number.isInteger(max) || max < 1) throw new TypeError("max must be a number of connections from 1");
  for (const own of ["schema", "timeout", "pgbouncer", "max"]) parameters.delete(own);
  return { url: parameters.size > 0 ? `${before}?${parameters}` : before, schema, timeout, pooled, max };
}

/** The commit as array literals. Of several sets of one key, the last one counts. */
export function toArrays(commit: Commit): string[] {
  return toElements(commit).map((list) => toArray(list, (each) => each));
}

/** The elements of the array literals of a commit: keys, values, each list in the order of the parameters. */
export function toElements({ check = [], set = [], remove = [] }: Commit): string[][] {
  const puts = [...new Map(set.map((put) => [encodeKey(put.key), put]))];
  return [
    check.map(({ key }) => quote(encodeKey(key))),
    check.map(({ version }) => version && /^[0-9]+$/.test(version) ? version : "NULL"),
    remove.map((key) => quote(encodeKey(key))),
    puts.map(([id]) => quote(id)),
    puts.map(([, { value }]) => isBytes(value) ? "NULL" : quote(JSON.stringify(value))),
    puts.map(([, { value }]) => isBytes(value) ? `"\\\\x${toHex(value)}"` : "NULL"),
    puts.map(([, { expires }]) => expires === undefined ? "NULL" : String(Math.ceil(expires))),
  ];
}

/** An array literal (https://www.postgresql.org/docs/current/arrays.html#ARRAYS-INPUT). */
export function toArray<Element>(elements: readonly Element[], write: (element: Element) => string): string {
  return `{${elements.map(write).join(",")}}`;
}

/** An element of an array literal in quotes. */
export function quote(text: string): string {
  return `"${text.replace(/["\\]/g, "\\$&")}"`;
}

function isBytes(value: unknown): value is Uint8Array {
  return value instanceof Uint8Array;
}

/** The two digits of each byte, as one little-endian number. */
const HEX = Uint16Array.from({ length: 256 }, (_, byte) => {
  const digits = byte.toString(16).padStart(2, "0");
  return digits.charCodeAt(0) | digits.charCodeAt(1) << 8;
});
const decoder = new TextDecoder();

/** By way of bytes: a text that grows digit by digit takes many times its length. */
function toHex(bytes: Uint8Array): string {
  const digits = new Uint16Array(bytes.length);
  for (let i = 0; i < bytes.length; i++) digits[i] = HEX[bytes[i]!]!;
  return decoder.decode(digits);
}

/** The record of a row. */
export function toEntry<Value>(key: Key, { value, bytes, version, expires }: Row): Entry<Value> {
  const content = (value === null ? new Uint8Array(bytes!) : JSON.parse(value)) as Value;
  const entry = { key, value: content, version };
  return expires === null ? entry : { ...entry, expires: Number(expires) };
}
