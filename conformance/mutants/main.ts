/**
 * `npm run mutants`: faulty servers, one at a time, each of which the vectors that it names have to catch.
 *
 *   node conformance/mutants/main.ts [--only TEXT] [--named] [--jobs N] [--verbose]
 *
 * `--only` takes mutants whose name contains a text. `--named` asks only the vectors that a mutant names. Without it
 * all of its suite are asked, and where every mutant of a suite was, vectors that have failed on none are listed.
 * Exit code 1 when a mutant survives, a vector that it names passes, one turns red that has nothing to do with it, or
 * a vector fails on no mutant without a reason in `untroubled.ts`.
 *
 * @module
 */
import { availableParallelism } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import { suiteOf } from "./hunt.ts";
import type { Errand, Told } from "./hunter.ts";
import { MUTANTS } from "./mutants.ts";
import { UNTROUBLED } from "./untroubled.ts";

const { values } = parseArgs({
  options: {
    only: { type: "string" },
    named: { type: "boolean", default: false },
    jobs: { type: "string" },
    verbose: { type: "boolean", default: false },
  },
});
const print = (line = ""): void => void process.stdout.write(`${line}\n`);
const started = performance.now();
const chosen = MUTANTS.filter(({ name }) => values.only === undefined || name.includes(values.only));
const queue = chosen.map(({ name }) => name);
const failedOnce = new Set<string>();
const vectors = new Set<string>();
const redBefore = new Map<string, string>();
let bad = 0;

const jobs = Math.min(Math.max(1, Number(values.jobs ?? availableParallelism())), queue.length);
const workerData: Errand = { names: queue.slice(), all: !values.named };
await Promise.all(Array.from({ length: jobs }, hireHunter));

function hireHunter(): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("hunter.ts", import.meta.url), { workerData });
    worker.on("error", reject);
    worker.on("exit", () => resolve());
    worker.on("message", ({ ready, caught }: Told) => {
      for (const name of ready?.vectors ?? []) vectors.add(name);
      for (const [name, why] of ready?.redBefore ?? []) redBefore.set(name, why);
      if (caught) report(caught);
      const next = queue.shift();
      if (next !== undefined) worker.postMessage(next);
      else void worker.terminate();
    });
  });
}

function report({ name, red, failed, missed, beyond, why }: NonNullable<Told["caught"]>): void {
  for (const vector of failed) failedOnce.add(vector);
  const isCaught = red.length > 0 && missed.length === 0 && beyond.length === 0;
  if (!isCaught) bad++;
  const word = isCaught ? "caught" : red.length === 0 ? "SURVIVED" : "WRONG";
  print(`${word.padEnd(9)}${name} (${red.length}): ${chosen.find((each) => each.name === name)!.fault}`);
  if (missed.length > 0) print(`         passed all the same: ${missed.join(" ")}`);
  for (const vector of beyond) print(`         red besides: ${vector} (${why[vector]})`);
  if (values.verbose) print(`         red: ${red.join(" ")}`);
}

/** Promise 7 of `FORMAT.md`, for the suites of which every mutant was asked everything. @returns vectors at fault */
function listUntroubled(): number {
  const isWhole = (vector: string): boolean =>
    MUTANTS.every((mutant) => suiteOf(mutant) !== suiteOf({ name: vector }) || chosen.includes(mutant));
  const asked = [...vectors].filter(isWhole);
  const calm = asked.filter((name) => !redBefore.has(name) && !failedOnce.has(name));
  list(
    "not passed by Trivet, so that no fault can show",
    asked.filter((name) => redBefore.has(name)),
    redBefore,
  );
  const excused = new Map(Object.entries(UNTROUBLED));
  list("failed on no mutant, for a reason", calm.filter((name) => excused.has(name)), excused);
  const unexcused = calm.filter((name) => !excused.has(name));
  list("FAILED ON NO MUTANT", unexcused);
  const stale = [...excused.keys()].filter((name) => isWhole(name) && !calm.includes(name));
  list("in untroubled.ts, but not untroubled", stale);
  return unexcused.length + stale.length;
}

function list(title: string, found: readonly string[], why?: ReadonlyMap<string, string>): void {
  if (found.length > 0) print(`\n${found.length} vectors ${title}:`);
  for (const name of found) print(`  ${name}${why ? `: ${why.get(name)}` : ""}`);
}

const unproved = values.named ? 0 : listUntroubled();
print(`\n${chosen.length - bad} of ${chosen.length} mutants caught in ${seconds()} s, ${jobs} at once`);
process.exit(bad + unproved > 0 || chosen.length === 0 ? 1 : 0);

function seconds(): number {
  return Math.round((performance.now() - started) / 1000);
}
