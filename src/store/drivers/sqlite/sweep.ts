/**
 * Removes expired records from a SQLite database, a limited number at a time.
 *
 * @module
 */
import type { DatabaseSync } from "node:sqlite";
import { hasRowIds, tryRollback } from "./open.ts";

/**
 * Prepares the removal of the first `limit` records that expired by `now`; it returns their number.
 *
 * A `DELETE` whose condition is a range of the index of expiries removes each entry where it reads it. One with a subquery
 * collects the records first, and searches each again in every tree: with a million records that takes half as long again.
 */
export function prepareSweep(database: DatabaseSync, limit: number): (now: number) => number {
  // The index of expiries ends with this column, so that the two order all expired records.
  const id = hasRowIds(database) ? "id" : "key";
  const selectLast = database.prepare(
    `SELECT expires, ${id} AS id FROM record WHERE expires <= ? ORDER BY expires, ${id} LIMIT 1 OFFSET ?`,
  );
  const deleteUntil = database.prepare("DELETE FROM record WHERE expires <= ?");
  const deleteBefore = database.prepare("DELETE FROM record WHERE expires < ?");
  const deleteAt = database.prepare(`DELETE FROM record WHERE expires = ? AND ${id} <= ?`);
  return (now) => {
    const last = selectLast.get(now, limit - 1);
    if (!last) return Number(deleteUntil.run(now).changes);
    const expires = last.expires as number;
    database.exec("BEGIN IMMEDIATE");
    try {
      const before = Number(deleteBefore.run(expires).changes);
      const at = Number(deleteAt.run(expires, last.id as number | string).changes);
      database.exec("COMMIT");
      return before + at;
    } catch (error) {
      if (database.isTransaction ?? true) tryRollback(database);
      throw error;
    }
  };
}
