/**
 * `npm run mutants`: mutation testing of the conformance vectors. `--help` prints what it does and its options.
 *
 * @module
 */
import { availableParallelism } from "node:os";
import process from "node:process";
import { parseArgs } from "node:util";
import { Worker } from "node:worker_threads";
import type { TargetArguments } from "../runner/target/target_file.ts";
import { MUTANTS } from "./mutants.ts";
import { type ProxyFigures, storeProxyFigures } from "./proxy/proxy_figures.ts";
import { reportProxyMutants } from "./proxy/report_proxy.ts";
import { suiteOf } from "./run_mutant.ts";
import { VECTORS_WITHOUT_KILL } from "./vectors_without_kill.ts";
import type { WorkerMessage, WorkerTask } from "./worker.ts";

const HELP = `Mutation testing of the conformance vectors.

A mutant is Trivet with one seeded fault. Each mutant names the vectors that must fail on it.
This command first runs the vectors on Trivet without a fault (the baseline run), then on each mutant.

Usage: npm run mutants -- [options]

Options:
  --only TEXT   run only the mutants whose name contains TEXT
  --named       run only the vectors that a mutant names, not its whole suite (faster)
  --jobs N      run N mutants at the same time (default: ${availableParallelism()}, the number of processors)
  --verbose     list the vectors that fail on each mutant
  --proxy       put the mutants that change only requests and responses before another server, and run the
                vectors that they name and that pass on it without a fault; needs --target or --module
  --target FILE a target file, or a URL (with --proxy)
  --module FILE a module that exports fetch (with --proxy)
  --write       store the figures of --proxy in mutants.json beside the target file; npm run targets -- --matrix
                writes them to conformance/RESULTS.md
  --help        print this help

Results of a mutant:
  killed        every vector that it names failed, and no unexpected vector
  SURVIVED      no vector failed
  WRONG         a vector that it names passed, or an unexpected vector failed

With --proxy, a mutant is killed when one of its vectors fails. "no effect" means that the fault changed no
request and no response, "prevented" that it broke what every vector needs first, such as the sign-in, and
"not asked" that no vector of the mutant passes on the server without it; --verbose lists them.

Without --named, vectors that fail on no mutant are listed too. A vector that cannot fail on any needs a
reason in conformance/mutants/vectors_without_kill.ts.

Examples:
  npm run mutants -- --only oauth/pkce
  npm run mutants -- --only mcp/stdio-raw-line-breaks --verbose
  npm run mutants -- --named --jobs 2
  npm run mutants -- --proxy --target conformance/targets/oidc-provider/target.json

Exit codes: 0 all mutants killed, 1 otherwise, 2 wrong arguments.
`;

/** Unexpected vectors of one file that are listed without `--verbose`. */
const MAX_SHOWN = 3;
const MAX_REASON_CHARACTERS = 240;

interface Options {
  readonly only: string | undefined;
  readonly named: boolean;
  readonly jobs: number;
  readonly verbose: boolean;
  /** The server behind the faults, instead of Trivet. */
  readonly proxied?: TargetArguments;
  /** The target file beside which the figures are stored. */
  readonly stored?: string;
}

const options = readOptions();
const print = (line = ""): void => void process.stdout.write(`${line}\n`);
const started = performance.now();
const chosen = MUTANTS.filter(({ name }) => options.only === undefined || name.includes(options.only));
if (chosen.length === 0) failUsage(`No mutant has a name that contains "${options.only}".`);
if (options.proxied) {
  const { proxied, verbose, stored } = options;
  const store = stored === undefined
    ? undefined
    : (figures: ProxyFigures) => storeProxyFigures(stored, figures);
  process.exit(await reportProxyMutants(proxied, chosen, print, verbose, store));
}
const queue = chosen.map(({ name }) => name);
const failedOnce = new Set<string>();
const vectors = new Set<string>();
const notPassing = new Map<string, string>();
let wrong = 0;

const jobs = Math.min(options.jobs, queue.length);
const workerData: WorkerTask = { names: queue.slice(), isWhole: !options.named };
await Promise.all(Array.from({ length: jobs }, startWorker));

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string" },
        named: { type: "boolean", default: false },
        jobs: { type: "string", default: String(availableParallelism()) },
        verbose: { type: "boolean", default: false },
        proxy: { type: "boolean", default: false },
        target: { type: "string" },
        module: { type: "string" },
        write: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const count = Number(values.jobs);
    if (!Number.isInteger(count) || count < 1) failUsage("--jobs must be a whole number of at least 1.");
    const { only, named, verbose, proxy, target, module, write } = values;
    if (proxy !== (target !== undefined || module !== undefined)) {
      failUsage("--proxy needs --target or --module, and they need --proxy.");
    }
    if (write && (!proxy || target === undefined || only !== undefined)) {
      failUsage("--write needs --proxy and --target, and all mutants: no --only.");
    }
    const proxied = { ...(target !== undefined && { target }), ...(module !== undefined && { module }) };
    return {
      only,
      named,
      jobs: count,
      verbose,
      ...(proxy && { proxied }),
      ...(write && target !== undefined && { stored: target }),
    };
  } catch (error) {
    return failUsage((error as Error).message);
  }
}

function failUsage(message: string): never {
  process.stderr.write(`${message}\nRun "npm run mutants -- --help" for the options.\n`);
  process.exit(2);
}

function startWorker(): Promise<void> {
  return new Promise((resolve, reject) => {
    const worker = new Worker(new URL("worker.ts", import.meta.url), { workerData });
    worker.on("error", reject);
    worker.on("exit", () => resolve());
    worker.on("message", ({ ready, result }: WorkerMessage) => {
      for (const name of ready?.vectors ?? []) vectors.add(name);
      for (const [name, why] of ready?.notPassing ?? []) notPassing.set(name, why);
      if (result) report(result);
      const next = queue.shift();
      if (next !== undefined) worker.postMessage(next);
      else void worker.terminate();
    });
  });
}

function cut(reason: string): string {
  const isShort = options.verbose || reason.length <= MAX_REASON_CHARACTERS;
  return isShort ? reason : `${reason.slice(0, MAX_REASON_CHARACTERS)}…`;
}

function report(
  { name, notPassed, failed, survived, unchanged, unexpected, reasons }: NonNullable<WorkerMessage["result"]>,
): void {
  for (const vector of failed) failedOnce.add(vector);
  const isKilled = notPassed.length > 0 && survived.length === 0 && unexpected.length === 0;
  if (!isKilled) wrong++;
  const word = isKilled ? "killed" : notPassed.length === 0 ? "SURVIVED" : "WRONG";
  const { fault } = chosen.find((each) => each.name === name)!;
  const count = `${failed.length} ${failed.length === 1 ? "vector fails" : "vectors fail"}`;
  print(`${word.padEnd(9)}${name}: ${fault} (${count})`);
  if (survived.length > 0) print(`         must fail, but passed: ${survived.join(" ")}`);
  if (unchanged.length > 0) {
    print(`         the fault changes none of the requests and responses of: ${unchanged.join(" ")}`);
  }
  for (
    const [file, vectors] of Map.groupBy(unexpected, (vector) => vector.slice(0, vector.lastIndexOf("/")))
  ) {
    const shown = options.verbose || vectors.length <= MAX_SHOWN ? vectors : vectors.slice(0, 1);
    for (const vector of shown) print(`         unexpected: ${vector} (${cut(reasons[vector]!)})`);
    const rest = vectors.length - shown.length;
    if (rest > 0) print(`         unexpected: ${rest} more of ${file} (--verbose lists them)`);
  }
  if (options.verbose) print(`         did not pass: ${notPassed.join(" ")}`);
}

/**
 * Promise 7 of `FORMAT.md`, for the suites of which every mutant ran with all vectors.
 *
 * @returns how many vectors break it
 */
function listVectorsWithoutKill(): number {
  const isSuiteComplete = (vector: string): boolean =>
    MUTANTS.every((mutant) => suiteOf(mutant) !== suiteOf({ name: vector }) || chosen.includes(mutant));
  const complete = [...vectors].filter(isSuiteComplete);
  const idle = complete.filter((name) => !notPassing.has(name) && !failedOnce.has(name));
  list(
    "do not pass in the baseline run, so that no mutant can be killed by them",
    complete.filter((name) => notPassing.has(name)),
    notPassing,
  );
  const excused = new Map(Object.entries(VECTORS_WITHOUT_KILL));
  list("kill no mutant, for a known reason", idle.filter((name) => excused.has(name)), excused);
  const unexcused = idle.filter((name) => !excused.has(name));
  list("KILL NO MUTANT: add a mutant, or a reason in vectors_without_kill.ts", unexcused);
  const stale = [...excused.keys()].filter((name) => isSuiteComplete(name) && !idle.includes(name));
  list("are in vectors_without_kill.ts, but kill a mutant: remove them", stale);
  return unexcused.length + stale.length;
}

function list(title: string, names: readonly string[], reasons?: ReadonlyMap<string, string>): void {
  if (names.length > 0) print(`\n${names.length} vectors ${title}:`);
  for (const name of names) print(`  ${name}${reasons ? `: ${reasons.get(name)}` : ""}`);
}

const broken = options.named ? 0 : listVectorsWithoutKill();
const seconds = Math.round((performance.now() - started) / 1000);
print(`\n${chosen.length - wrong} of ${chosen.length} mutants killed in ${seconds} s with ${jobs} workers`);
process.exit(wrong + broken > 0 ? 1 : 0);
