/**
 * Trivet with a cache before its store, as a target in this process: `trivet.ts` on the layered store. The lifetime is
 * short, since whoever revokes waits for it.
 *
 * @module
 */
import { layeredStore } from "../../src/store/drivers/layered.ts";
import { sqliteStore } from "../../src/store/drivers/sqlite.ts";
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_world.ts";

export function start(): Promise<TrivetTarget> {
  return startTrivet({
    openStore: (now) =>
      Promise.resolve(layeredStore(sqliteStore(":memory:", { now }), { now, lifetime: 20 })),
  });
}
