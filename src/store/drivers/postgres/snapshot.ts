/**
 * Reads all records of a PostgreSQL store as they were at one moment, while servers go on writing
 * (https://www.postgresql.org/docs/current/transaction-iso.html#XACT-REPEATABLE-READ).
 *
 * @module
 */
import { decodeKey, pageRange } from "../../key.ts";
import type { Entry, Key, ListOptions, Store } from "../../store.ts";
import { readAddress, type Row, statementsOf, toEntry } from "./rows.ts";
import { PostgresPool } from "./pool.ts";

/** Runs work on a snapshot of the store at this address. @throws {Error} when the store does not exist or is unavailable */
export async function withPostgresSnapshot<Result>(
  address: string,
  work: (snapshot: Pick<Store, "list">) => Promise<Result>,
): Promise<Result> {
  const { url, schema, timeout, pooled } = readAddress(address);
  const options = { fetch_types: false, onnotice: () => {}, connect_timeout: timeout };
  const pool = new PostgresPool(url, options, !pooled);
  const { ascending, descending } = statementsOf(schema);
  try {
    return await pool.transact(async (sql) => {
      // As everywhere in this driver, expiry follows the clock of PostgreSQL.
      const [{ now }] = await sql.unsafe("SELECT extract(epoch FROM now()) * 1000 AS now") as unknown as [
        { now: string },
      ];
      return await work({
        async list<Value>(prefix: Key, given: ListOptions = {}): Promise<Entry<Value>[]> {
          const { limit = 100, reverse = false } = given;
          const { low, high } = pageRange(prefix, given);
          const parameters = [low, high, String(Math.floor(Number(now))), String(Math.max(0, limit))];
          const rows = await sql.unsafe(reverse ? descending : ascending, parameters);
          return (rows as unknown as Row[]).map((row) => toEntry(decodeKey(row.key!), row));
        },
      });
    }, "ISOLATION LEVEL REPEATABLE READ READ ONLY");
  } finally {
    await pool.end();
  }
}
