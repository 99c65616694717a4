/**
 * Trivet as a target in this process on PostgreSQL, in new schemas. The server is at `TRIVET_TEST_POSTGRES`, by default
 * on this machine.
 *
 * @module
 */
import postgres from "postgres";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { startOnEngine } from "./trivet_engine.ts";
import type { TrivetTarget } from "./trivet_target.ts";

export function start(): Promise<TrivetTarget> {
  return startOnEngine("postgres", {
    open: (address, schema, now) => postgresStore(`${address}?schema=${schema}&max=4`, { now }),
    async remove(address, schema) {
      const sql = postgres(address, { onnotice: () => {}, max: 1 });
      await sql.unsafe(`DROP SCHEMA IF EXISTS ${schema} CASCADE`);
      await sql.end();
    },
  });
}
