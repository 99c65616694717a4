/**
 * Trivet on PostgreSQL, as a target in this process, in schemas of its own. The server is the one at
 * `TRIVET_TEST_POSTGRES`, else on this machine.
 *
 * @module
 */
import postgres from "postgres";
import { postgresStore } from "../../src/store/drivers/postgres.ts";
import { startOnEngine } from "./trivet_engine.ts";
import type { TrivetTarget } from "./trivet_world.ts";

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
