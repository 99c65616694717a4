/**
 * Trivet on an engine that several instances share, as a target in this process: `trivet.ts` under a name of its own in
 * the engine for each world, removed after it.
 *
 * @module
 */
import type { Store } from "../../src/mod.ts";
import { closingWith, findEngine } from "../../src/store/test_engines.ts";
import { start as startTrivet } from "./trivet.ts";
import type { TrivetTarget } from "./trivet_world.ts";

/** How a store is opened in the engine, and what takes everything of its name away. */
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
  if (address === undefined) throw new Error(`Cannot start Trivet on ${engine}: nothing listens`);
  const run = crypto.randomUUID().slice(0, 8);
  let worlds = 0;
  return await startTrivet({
    async openStore(now) {
      const name = `trivet_conformance_${run}_${++worlds}`;
      // A store that connects goes by the engine's clock from then on, which no vector moves: it is told the moved time after.
      let isConnected = false;
      const store = open(address, name, () => isConnected ? now() : Date.now());
      await store.get(["nothing"]);
      isConnected = true;
      return closingWith(store, () => remove(address, name));
    },
  });
}
