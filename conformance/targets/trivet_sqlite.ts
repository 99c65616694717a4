/**
 * Trivet as a target in this process on SQLite, the default store.
 *
 * @module
 */
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_target.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({ openStore: (now) => Promise.resolve(sqliteStore(":memory:", { now })) });
}
