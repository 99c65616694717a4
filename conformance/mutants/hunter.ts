/**
 * A worker of `main.ts`: hunts the mutants whose names it is told, one after the other.
 *
 * @module
 */
import { parentPort, workerData } from "node:worker_threads";
import { type Caught, hunt, prepare } from "./hunt.ts";
import { MUTANTS } from "./mutants.ts";

/** What a worker is started with. */
export interface Errand {
  readonly names: readonly string[];
  /** Every vector of the mutants' suites, not only those that they name. */
  readonly all: boolean;
}

/** What a worker says when it is ready, and then of each mutant. */
export interface Told {
  readonly ready?: { readonly vectors: readonly string[]; readonly redBefore: ReadonlyMap<string, string> };
  readonly caught?: Caught & { readonly name: string };
}

if (parentPort) {
  const port = parentPort;
  const { names, all } = workerData as Errand;
  const mutants = MUTANTS.filter(({ name }) => names.includes(name));
  const hunting = await prepare(mutants);
  const tell = (told: Told): void => port.postMessage(told);
  tell({
    ready: { vectors: hunting.vectors.map(({ name }) => name), redBefore: hunting.redBefore },
  });
  port.on("message", async (name: string) => {
    const mutant = mutants.find((each) => each.name === name)!;
    tell({ caught: { name, ...await hunt(mutant, hunting, all) } });
  });
}
