/**
 * Trivet as a target in this process on a database engine: each reset uses a new schema or key prefix, which is removed
 * at the end.
 *
 * @module
 */
import type { Store } from "../../src/mod.ts";
import { closingWith, findEngine } from "../../src/store/test_engines.ts";
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_target.ts";

/** Opens a store under a name in the engine, and removes everything with that name. */
export interface Engine {
  readonly open: (address: string, name: string, now: () => number) => Store;
  readonly remove: (address: string, name: string) => Promise<void>;
}

/** @throws {Error} when the engine does not listen */
export async function startOnEngine(
  engine: "postgres" | "redis",
  { open, remove }: Engine,
): Promise<TrivetTarget> {
  const address = await findEngine(engine);
  if (address === undefined) throw new Error(`Cannot start Trivet on ${engine}: no server listens`);
  const run = crypto.randomUUID().slice(0, 8);
  let resets = 0;
  return await startTrivet({
    async openStore(now) {
      const name = `trivet_conformance_${run}_${++resets}`;
      // A store reads the engine's clock when it connects, so it sees the adjusted clock only after that.
      let isConnected = false;
      const store = open(address, name, () => isConnected ? now() : Date.now());
      await store.get(["nothing"]);
      isConnected = true;
      return closingWith(store, () => remove(address, name));
    },
  });
}
