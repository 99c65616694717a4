/**
 * Trivet on SQLite, as a target in this process: `trivet.ts` on the store that it embeds by default.
 *
 * @module
 */
import { sqliteStore } from "../../src/store/sqlite.ts";
import type { ModuleTarget } from "../runner/target_file.ts";
import { start as startTrivet } from "./trivet.ts";

export function start(): Promise<ModuleTarget> {
  return startTrivet({ openStore: (now) => Promise.resolve(sqliteStore(":memory:", { now })) });
}
