/**
 * Trivet on SQLite, as a target in this process: `trivet.ts` on the store that it embeds by default.
 *
 * @module
 */
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_world.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({ openStore: (now) => Promise.resolve(sqliteStore(":memory:", { now })) });
}
