/**
 * A worker thread of `main.ts`: makes the baseline run, then runs each mutant whose name it receives.
 *
 * @module
 */
import { parentPort, workerData } from "node:worker_threads";
import { MUTANTS } from "./mutants.ts";
import { type MutantResult, runBaseline, runMutant } from "./run_mutant.ts";

/** Data that a worker starts with. */
export interface WorkerTask {
  /** Names of the mutants that the worker may receive. */
  readonly names: readonly string[];
  /** Whether to run every vector of a mutant's suite, not only those that it names. */
  readonly isWhole: boolean;
}

/** A message of a worker: `ready` after the baseline run, then `result` for each mutant. */
export interface WorkerMessage {
  readonly ready?: { readonly vectors: readonly string[]; readonly notPassing: ReadonlyMap<string, string> };
  readonly result?: MutantResult & { readonly name: string };
}

if (parentPort) {
  const port = parentPort;
  const { names, isWhole } = workerData as WorkerTask;
  const mutants = MUTANTS.filter(({ name }) => names.includes(name));
  const baseline = await runBaseline(mutants);
  const send = (message: WorkerMessage): void => port.postMessage(message);
  send({
    ready: { vectors: baseline.vectors.map(({ name }) => name), notPassing: baseline.notPassing },
  });
  port.on("message", async (name: string) => {
    const mutant = mutants.find((each) => each.name === name)!;
    send({ result: { name, ...await runMutant(mutant, baseline, isWhole) } });
  });
}
