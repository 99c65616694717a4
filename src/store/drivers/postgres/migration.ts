/**
 * Prepares a database for a store before its first use: checks the settings of the server, creates the tables and functions
 * that are missing, and checks the format of the records.
 *
 * @module
 */
import { ensureFormat, type FormatOptions, StoreFormatError } from "../../format.ts";
import { encodeKey, prefixRange } from "../../key.ts";
import { StoreNotFoundError } from "../../store.ts";
import type { PostgresConnection } from "./connection.ts";
import { type Row, type Statements, toArrays, toEntry } from "./rows.ts";
import { MIGRATIONS } from "./tables.ts";

/** What a database is, and how its server is set. */
interface Settings {
  /** The table of migrations; `null` when there is no store. */
  readonly there: string | null;
  readonly encoding: string;
  readonly isolation: string;
  readonly fsync: string;
  readonly sync: string;
}

/**
 * Checks the settings on which the driver depends. Returns whether the database has a store.
 * @param create whether a store may be created
 * @param onWarning called when an acknowledged commit may be lost
 * @throws {StoreNotFoundError} when there is no store and none may be created
 */
export async function checkSettings(
  connection: PostgresConnection,
  create: boolean,
  onWarning: (message: string) => void,
): Promise<boolean> {
  const { schema } = connection;
  const found = await connection.run<Settings>(
    `SELECT to_regclass($1)::text AS there, current_setting('server_encoding') AS encoding,
      current_setting('default_transaction_isolation') AS isolation, current_setting('fsync') AS fsync,
      current_setting('synchronous_commit') AS sync`,
    [`${schema}.migration`],
  );
  const { there, encoding, isolation, fsync, sync } = found[0]!;
  if (there === null && !create) throw new StoreNotFoundError(`The database has no schema "${schema}"`);
  if (encoding !== "UTF8") throw new Error(`The database's encoding must be UTF8, but is ${encoding}`);
  if (isolation !== "read committed") {
    throw new Error(`default_transaction_isolation must be "read committed", but is "${isolation}"`);
  }
  if (fsync === "off" || sync === "off") {
    onWarning(
      `PostgreSQL runs with ${
        fsync === "off" ? "fsync" : "synchronous_commit"
      } off: acknowledged commits may be lost in a crash. Turn it on`,
    );
  }
  return there !== null;
}

/**
 * Applies missing migrations.
 * @param exists whether the database has a store
 * @throws {StoreFormatError} when a newer version of Trivet made the tables
 */
export async function migrate(connection: PostgresConnection, exists: boolean): Promise<void> {
  const { schema } = connection;
  const current = exists ? await readVersion(connection) : 0;
  if (current > MIGRATIONS.length) {
    throw new StoreFormatError(
      `The schema "${schema}" has tables of version ${current}, made by a newer Trivet; this version makes version ${MIGRATIONS.length}. Update Trivet, or use another schema`,
    );
  }
  if (current < MIGRATIONS.length) await makeTables(connection);
}

async function readVersion(connection: PostgresConnection): Promise<number> {
  const [row] = await connection.run<{ version: number }>(
    `SELECT count(*)::int AS version FROM ${connection.schema}.migration`,
    [],
  );
  return row!.version;
}

/** Creates the tables and functions that are missing. Instances that start at the same time do it one after the other. */
async function makeTables(connection: PostgresConnection): Promise<void> {
  const { schema } = connection;
  await connection.transact(async (sql) => {
    await sql.unsafe("SELECT pg_advisory_xact_lock(hashtextextended($1, 0))", [`trivet migration ${schema}`]);
    await sql.unsafe(`CREATE SCHEMA IF NOT EXISTS ${schema}`);
    await sql.unsafe(
      `CREATE TABLE IF NOT EXISTS ${schema}.migration (version int PRIMARY KEY, done timestamptz DEFAULT now())`,
    );
    const [row] = await sql.unsafe(`SELECT count(*)::int AS version FROM ${schema}.migration`);
    for (let version = row!.version as number; version < MIGRATIONS.length; version++) {
      await sql.unsafe(MIGRATIONS[version]!.replace(/\$(?=[.'])/g, () => schema));
      await sql.unsafe(`INSERT INTO ${schema}.migration (version) VALUES (${version + 1})`);
    }
  });
}

/** Checks the format of the records. @throws {StoreFormatError} as {@linkcode ensureFormat} */
export async function checkFormat(
  connection: PostgresConnection,
  statements: Statements,
  options: FormatOptions,
): Promise<void> {
  await ensureFormat(async (step) => {
    if ("get" in step) {
      const [row] = await connection.run<Row>(statements.get, [encodeKey(step.get), 0]);
      return row && toEntry(step.get, row).value;
    }
    if ("list" in step) {
      const { low, high } = prefixRange(step.list);
      const rows = await connection.run<Row>(statements.ascending, [low, high, 0, step.limit]);
      return rows.map((row) => toEntry(step.list, row).value);
    }
    const { put: key, value } = step;
    await connection.run(statements.commit, [
      0,
      ...toArrays({ check: [{ key, version: null }], set: [{ key, value }] }),
    ]);
  }, options);
}
