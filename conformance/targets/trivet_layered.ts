/**
 * Trivet as a target in this process on the layered store. The cache lifetime is short, because a revocation takes effect
 * only after it.
 *
 * @module
 */
import { layeredStore } from "../../src/store/drivers/layered.ts";
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_target.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({
    openStore: (now) =>
      Promise.resolve(layeredStore(sqliteStore(":memory:", { now }), { now, lifetime: 20 })),
  });
}
