/**
 * The common part of the D1 and Durable Object drivers: tables, statements, and the conversion of commits to rows. Both
 * are SQLite and accept few parameters in a statement, so each list is passed as one JSON text.
 *
 * @module
 */
import type { FormatStep } from "../format.ts";
import { decodeKey, encodeKey, pageRange } from "../key.ts";
import type { Commit, Entry, Key, ListOptions } from "../store.ts";

export interface Row {
  readonly key: string;
  readonly value: string | null;
  readonly bytes: ArrayBuffer | readonly number[] | null;
  readonly version: number;
  readonly expires: number | null;
}

/** One statement and its parameters. */
export type Statement = readonly [sql: string, ...parameters: (string | number | null | Uint8Array)[]];

export const SCHEMA: readonly string[] = [
  "CREATE TABLE IF NOT EXISTS record (key TEXT PRIMARY KEY, value TEXT, bytes BLOB, version INTEGER NOT NULL, expires INTEGER) WITHOUT ROWID",
  "CREATE INDEX IF NOT EXISTS record_expires ON record (expires) WHERE expires IS NOT NULL",
  `CREATE TABLE IF NOT EXISTS sequence (one INTEGER PRIMARY KEY CHECK (one = 1), version INTEGER NOT NULL,
    checked INTEGER NOT NULL CONSTRAINT every_check_holds CHECK (checked = 1))`,
  "INSERT OR IGNORE INTO sequence VALUES (1, 0, 1)",
];

/** Matches the error of the engine when a check of a commit failed. */
export const CHECK_FAILED: RegExp = /every_check_holds/;

/** Both engines refuse rows of more than two megabytes; a row also has a key and other columns. */
const MAX_VALUE_BYTES = 1_900_000;
/** Of the texts of one statement: up to 3 bytes each. */
const MAX_BATCH_CHARACTERS = MAX_VALUE_BYTES / 4;
const COLUMNS = "key, value, bytes, version, expires FROM record";
const alive = (parameter: string) => `(expires IS NULL OR expires > ${parameter})`;

/** Selects a record that has not expired. @param now milliseconds since the epoch */
export function selectOne(key: Key, now: number): Statement {
  return [`SELECT ${COLUMNS} WHERE key = ?1 AND ${alive("?2")}`, encodeKey(key), now];
}

/** Selects a page of records that have not expired, in the order of their keys. @param now milliseconds since the epoch */
export function selectPage(
  prefix: Key,
  { after, limit = 100, reverse = false }: ListOptions,
  now: number,
): Statement {
  const { low, high } = pageRange(prefix, { after, reverse });
  const order = reverse ? "DESC" : "ASC";
  const sql = `SELECT ${COLUMNS} WHERE key > ?1 AND key < ?2 AND ${
    alive("?3")
  } ORDER BY key ${order} LIMIT ?4`;
  return [sql, low, high, now, Math.max(0, limit)];
}

/**
 * The statements of a commit, for one transaction. The first increments the version and violates a constraint if a check
 * fails, so the transaction is rolled back.
 * @throws {RangeError} for a value that is too large for a row
 */
export function commitStatements({ check = [], set = [], remove = [] }: Commit, now: number): Statement[] {
  const checks = check.map(({ key, version }) => [encodeKey(key), version === null ? null : Number(version)]);
  const statements: Statement[] = [[
    `UPDATE sequence SET version = version + 1, checked = NOT EXISTS (
       SELECT 1 FROM json_each(?1) AS c LEFT JOIN record AS r ON r.key = c.value ->> 0 AND (r.expires IS NULL OR r.expires > ?2)
       WHERE r.version IS NOT c.value ->> 1)`,
    JSON.stringify(checks),
    now,
  ]];
  if (remove.length > 0) {
    const keys = JSON.stringify(remove.map(encodeKey));
    statements.push(["DELETE FROM record WHERE key IN (SELECT value FROM json_each(?1))", keys]);
  }
  // Of several sets of one key, the last one counts.
  const puts = [...new Map(set.map((put) => [encodeKey(put.key), put]))];
  const texts: (string | number | null)[][] = [];
  let length = 0;
  const flush = (): void => {
    if (texts.length === 0) return;
    statements.push([
      `INSERT OR REPLACE INTO record (key, value, version, expires)
       SELECT j.value ->> 0, j.value ->> 1, (SELECT version FROM sequence), j.value ->> 2 FROM json_each(?1) AS j`,
      JSON.stringify(texts),
    ]);
    texts.length = length = 0;
  };
  for (const [id, { value, expires }] of puts) {
    const until = expires === undefined ? null : Math.ceil(expires);
    const content = value instanceof Uint8Array ? value : JSON.stringify(value);
    const isText = typeof content === "string";
    const size = isText && 3 * content.length > MAX_VALUE_BYTES
      ? new TextEncoder().encode(content).length
      : content.length;
    if (size > MAX_VALUE_BYTES) {
      throw new RangeError(`A value in this store must be at most ${MAX_VALUE_BYTES} bytes, but has ${size}`);
    }
    // Parameters have the size limit of rows, and in JSON a text can be twice as long.
    if (!isText || content.length > MAX_BATCH_CHARACTERS) {
      statements.push([
        `INSERT OR REPLACE INTO record (key, ${
          isText ? "value" : "bytes"
        }, version, expires) VALUES (?1, ?2, (SELECT version FROM sequence), ?3)`,
        id,
        content,
        until,
      ]);
      continue;
    }
    if (length + content.length > MAX_BATCH_CHARACTERS) flush();
    texts.push([id, content, until]);
    length += content.length + id.length;
  }
  flush();
  return statements;
}

/** Removes expired records, the oldest first, at most `limit`. @param now milliseconds since the epoch */
export function sweepSome(now: number, limit: number): Statement {
  return [
    "DELETE FROM record WHERE key IN (SELECT key FROM record WHERE expires <= ?1 ORDER BY expires LIMIT ?2)",
    now,
    limit,
  ];
}

export const LAST_VERSION: Statement = ["SELECT version FROM sequence"];

/** The keys that a commit changed. */
export function changedBy({ set = [], remove = [] }: Commit): Key[] {
  return [...remove, ...set.map((put) => put.key)];
}

export function toEntry<Value>({ key, value, bytes, version, expires }: Row): Entry<Value> {
  return {
    key: decodeKey(key),
    value: (value === null ? new Uint8Array(bytes as ArrayBuffer) : JSON.parse(value)) as Value,
    version: String(version),
    ...(expires !== null && { expires }),
  };
}

/** The statement of one step of the format check. */
export function formatStatement(step: FormatStep): Statement {
  if ("get" in step) return selectOne(step.get, 0);
  if ("list" in step) return selectPage(step.list, { limit: step.limit }, 0);
  return [
    "INSERT OR IGNORE INTO record (key, value, version) VALUES (?1, ?2, 0)",
    encodeKey(step.put),
    JSON.stringify(step.value),
  ];
}

/** The result of the step, from the rows of {@linkcode formatStatement}. */
export function formatAnswer(step: FormatStep, rows: readonly Row[]): unknown {
  const values = rows.map((row) => toEntry(row).value);
  return "get" in step ? values[0] : values;
}
