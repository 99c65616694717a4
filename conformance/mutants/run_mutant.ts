/**
 * Runs vectors on a mutant and compares the failures with those that the mutant expects. Mutants have three kinds of
 * target: Trivet over HTTP, the same with OpenAI's dialect of the Skills API, and Trivet over stdio.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { memoryStore } from "../../src/mod.ts";
import { type LoadedVector, loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { runAll } from "../runner/run.ts";
import { moduleSender } from "../runner/exchange/send_module.ts";
import { openTarget } from "../runner/target/open_target.ts";
import { type Target } from "../runner/target/target.ts";
import type { Procedure } from "../runner/target/target_description.ts";
import type { Result } from "../runner/vector/vector.ts";
import { start } from "../targets/trivet.ts";
import type { Handler, Mutant } from "./mutant.ts";
import { stdioProgram } from "./mcp/stdio_target.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const targetPath = (name: string): string => fileURLToPath(new URL(`../targets/${name}`, import.meta.url));
const TARGETS: Readonly<Record<Kind, Parameters<typeof openTarget>[0]>> = {
  http: { module: targetPath("trivet.ts") },
  openai: { target: targetPath("trivet_openai.json") },
  stdio: { target: targetPath("trivet_stdio.json") },
};
/** Every run has the same random values, so that only the fault changes results. */
const SEED = "mutants";

/** How long a vector waits for a response. Short, because some faults suppress the response and the server is local. */
const RESPONSE_TIMEOUT_S = 5;

type Kind = "http" | "openai" | "stdio";

/** The target of one kind of mutants, and its baseline run: the results without a fault. */
export interface BaselineTarget {
  /** Trivet without a fault; its features, variables and procedures are those of its mutants. */
  readonly target: Target;
  /** Vectors that do not pass, and why. */
  readonly notPassing: ReadonlyMap<string, string>;
  /** The paths that each vector requested. */
  readonly paths: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface Baseline {
  readonly vectors: readonly LoadedVector[];
  readonly targets: ReadonlyMap<Kind, BaselineTarget>;
  /** Vectors that pass on no target, and why. */
  readonly notPassing: ReadonlyMap<string, string>;
}

/** Names of vectors, by their result on a mutant. */
export interface MutantResult {
  /** Vectors that passed in the baseline run and did not pass on the mutant. */
  readonly notPassed: readonly string[];
  /** Those of `notPassed` with a wrong response, without those that stopped in `setup`. */
  readonly failed: readonly string[];
  /** Vectors of `killedBy` that did not fail. */
  readonly survived: readonly string[];
  /** Vectors of `notPassed` that neither `killedBy`, `mayFail` nor `preventsSetup` allows. */
  readonly unexpected: readonly string[];
  /** What was wrong with each unexpected vector. */
  readonly reasons: Readonly<Record<string, string>>;
}

/** Runs the suites of these mutants on Trivet without a fault. Call `closeBaseline` at the end. */
export async function runBaseline(mutants: readonly Mutant[]): Promise<Baseline> {
  const suites = [...new Set(mutants.map(suiteOf))];
  const vectors = loadVectors(ROOT, suites, loadRequirements(ROOT));
  const targets = new Map<Kind, BaselineTarget>();
  for (const kind of new Set(mutants.map(kindOf))) {
    const own = mutants.filter((mutant) => kindOf(mutant) === kind);
    targets.set(kind, await runBaselineOn(kind, vectors, own));
  }
  const all = [...targets.values()];
  // A target runs only the suites of its own mutants.
  const notPassing = all.flatMap((each) => [...each.notPassing]).filter(([name]) =>
    all.every(({ paths, notPassing }) => !paths.has(name) || notPassing.has(name))
  );
  return { vectors, targets, notPassing: new Map(notPassing) };
}

async function runBaselineOn(
  kind: Kind,
  vectors: readonly LoadedVector[],
  mutants: readonly Mutant[],
): Promise<BaselineTarget> {
  const opened = await openTarget({ ...TARGETS[kind], seconds: RESPONSE_TIMEOUT_S });
  const target = kind === "stdio" ? { ...opened, stdio: stdioProgram(() => ({})) } : opened;
  const chosen = vectors.filter((each) =>
    mutants.some((mutant) => isNamed(mutant, each) || suiteOf(mutant) === suiteOf(each) && !isSlow(each))
  );
  const results = await runAll(chosen, { target, seed: SEED, maxWaitSeconds: 0 });
  const notPassing = results.filter(({ outcome }) => outcome !== "pass");
  return {
    target,
    notPassing: new Map(notPassing.map(({ name, outcome, reason }) => [name, `${outcome}: ${reason}`])),
    paths: new Map(results.map((result) => [result.name, pathsOf(result)])),
  };
}

export async function closeBaseline({ targets }: Baseline): Promise<void> {
  for (const { target } of targets.values()) await target.close();
}

const kindOf = ({ isOpenai, stdio }: Mutant): Kind => stdio ? "stdio" : isOpenai ? "openai" : "http";

/** The first part of a mutant's or vector's name. */
export const suiteOf = ({ name }: { readonly name: string }): string => name.split("/")[0]!;

const isNamed = ({ killedBy }: Mutant, { name }: LoadedVector): boolean => killedBy.includes(name);

/** Slow vectors run only on mutants that name them. */
const isSlow = ({ vector }: LoadedVector): boolean => vector.slow === true;

function pathsOf({ exchanges }: Result): ReadonlySet<string> {
  return new Set(exchanges.map(({ request }) => /^\S+ ([^\s?]*)/.exec(request)?.[1] ?? ""));
}

/**
 * Runs vectors on a mutant.
 *
 * @param isWhole every vector of the mutant's suite, not only those that it names
 */
export async function runMutant(mutant: Mutant, baseline: Baseline, isWhole: boolean): Promise<MutantResult> {
  const { vectors } = baseline;
  const own = baseline.targets.get(kindOf(mutant))!;
  const { killedBy, preventsSetup } = mutant;
  const unknown = killedBy.filter((name) => !vectors.some((each) => each.name === name));
  if (unknown.length > 0) {
    throw new TypeError(`Mutant "${mutant.name}" names unknown vectors in killedBy: ${unknown}`);
  }
  const chosen = vectors.filter((each) =>
    isNamed(mutant, each) || isWhole && mayReachFault(mutant, each, own)
  );
  const { target, close } = await startMutant(mutant, own.target);
  const results = await runAll(chosen, { target, seed: SEED, maxWaitSeconds: 0 });
  await close();
  const notPassed = results.filter(({ name, outcome }) => outcome !== "pass" && !own.notPassing.has(name));
  const failed = notPassed.filter(({ outcome }) => /^(fail|warn|observe)$/.test(outcome)).map(({ name }) =>
    name
  );
  const prefixes = Object.values(mutant.mayFail ?? {}).flat();
  const isExpected = ({ name, outcome }: Result): boolean =>
    killedBy.includes(name) || prefixes.some((prefix) => name.startsWith(prefix)) ||
    preventsSetup !== undefined && outcome === "setup";
  const unexpected = notPassed.filter((result) => !isExpected(result));
  return {
    notPassed: notPassed.map(({ name }) => name),
    failed,
    survived: killedBy.filter((name) => !failed.includes(name)),
    unexpected: unexpected.map(({ name }) => name),
    reasons: Object.fromEntries(
      unexpected.map(({ name, outcome, reason }) => [name, `${outcome}: ${reason}`]),
    ),
  };
}

/** A vector that never requests the path of the fault has the same result as in the baseline run. */
function mayReachFault(mutant: Mutant, vector: LoadedVector, { paths, notPassing }: BaselineTarget): boolean {
  const { wrap, store, isClockStopped } = mutant;
  if (suiteOf(vector) !== suiteOf(mutant) || isSlow(vector) || notPassing.has(vector.name)) return false;
  const path = store || isClockStopped ? undefined : wrap?.path;
  return path === undefined || paths.get(vector.name)?.has(path) !== false;
}

async function startMutant(
  { wrap, store, isClockStopped, isOpenai, stdio }: Mutant,
  baseline: Target,
): Promise<{ target: Target; close: () => Promise<void> }> {
  if (stdio) return { target: { ...baseline, stdio: stdioProgram(stdio) }, close: () => Promise.resolve() };
  const own = await start({
    base: baseline.base,
    openai: isOpenai === true,
    ...(store && { openStore: (now) => Promise.resolve(store(memoryStore({ now }))) }),
  });
  const handler: Handler = async (request) => await own.fetch(request);
  const procedures = new Map<string, Procedure>([
    ...baseline.procedures,
    ...Object.entries(own.procedures ?? {}),
    ...(isClockStopped ? [["advance", () => {}] as const] : []),
  ]);
  const target = { ...baseline, advanced: 0, procedures, sender: moduleSender(wrap?.(handler) ?? handler) };
  return { target, close: async () => await own.close?.() };
}
