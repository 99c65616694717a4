/**
 * Runs vectors on a mutant and compares the failures with those that the mutant expects. Mutants have four kinds of
 * target: Trivet over HTTP, the same with OpenAI's dialect of the Skills API or with FAPI 2.0, and Trivet over stdio.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { memoryStore } from "../../src/mod.ts";
import { type LoadedVector, loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { runAll, runsAlone } from "../runner/run.ts";
import { moduleSender } from "../runner/exchange/send_module.ts";
import { openTarget } from "../runner/target/open_target.ts";
import { type Target } from "../runner/target/target.ts";
import type { Procedure } from "../runner/target/target_description.ts";
import type { Result } from "../runner/vector/vector.ts";
import { start } from "../targets/trivet.ts";
import type { Handler, Mutant } from "./mutant.ts";
import { findAffected, record, type RecordedExchange } from "./recording.ts";
import { stdioProgram } from "./mcp/stdio_target.ts";
import { withSender } from "./with_sender.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const targetPath = (name: string): string => fileURLToPath(new URL(`../targets/${name}`, import.meta.url));
const TARGETS: Readonly<Record<Kind, Parameters<typeof openTarget>[0]>> = {
  http: { module: targetPath("trivet.ts") },
  openai: { target: targetPath("trivet_openai.json") },
  fapi: { target: targetPath("trivet_fapi_openid.json") },
  stdio: { target: targetPath("trivet_stdio.json") },
};
/** Every run has the same random values, so that only the fault changes results. */
const RUN = { seed: "mutants", maxWaitSeconds: 0 };

/** How long a vector waits for a response. Short, because some faults suppress the response and the server is local. */
const RESPONSE_TIMEOUT_S = 5;
/** Without a fault: a vector that is late on a busy machine would count as one that cannot fail. */
const BASELINE_TIMEOUT_S = 60;

type Kind = "http" | "openai" | "fapi" | "stdio";

/** The target of one kind of mutants, and its baseline run: the results without a fault. */
export interface BaselineTarget {
  /** Trivet without a fault; its features, variables and procedures are those of its mutants. */
  readonly target: Target;
  /** Vectors that do not pass, and why. */
  readonly notPassing: ReadonlyMap<string, string>;
  /** What each vector exchanged; nothing for stdio. */
  readonly recordings: ReadonlyMap<string, readonly RecordedExchange[]>;
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
  /** Those of `survived` of which the fault changes no request and no response. */
  readonly unchanged: readonly string[];
  /** Vectors of `notPassed` that neither `killedBy`, `mayFail`, `mayFailWith` nor `preventsSetup` allows. */
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
    all.every(({ recordings, notPassing }) => !recordings.has(name) || notPassing.has(name))
  );
  const isSkip = ([, why]: readonly [string, string]): boolean => why.startsWith("skip");
  // Why a vector fails on one target says more than why another skips it.
  const ordered = [...notPassing.filter(isSkip), ...notPassing.filter((each) => !isSkip(each))];
  return { vectors, targets, notPassing: new Map(ordered) };
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
  const recordings = new Map<string, RecordedExchange[]>(chosen.map(({ name }) => [name, []]));
  const patient = { ...target, limits: { ...target.limits, seconds: BASELINE_TIMEOUT_S } };
  const results = await runRecorded(chosen, patient, kind, recordings);
  const notPassing = results.filter(({ outcome }) => outcome !== "pass");
  return {
    target,
    notPassing: new Map(notPassing.map(({ name, outcome, reason }) => [name, `${outcome}: ${reason}`])),
    recordings,
  };
}

/** Runs vectors without a fault. */
async function runRecorded(
  vectors: readonly LoadedVector[],
  baseline: Target,
  kind: Kind,
  recordings: ReadonlyMap<string, RecordedExchange[]>,
): Promise<Result[]> {
  if (kind === "stdio") return await runAll(vectors, { target: baseline, ...RUN });
  const results = new Map<string, Result>();
  // A new server for each file, so that no response shows the limits or the consent of other vectors.
  for (const group of Map.groupBy(vectors, ({ file }) => file).values()) {
    const { target, handler, close } = await startServer(
      { isOpenai: kind === "openai", isFapi: kind === "fapi" },
      baseline,
    );
    const runOne = async (vector: LoadedVector): Promise<void> => {
      const { name } = vector;
      // A sender of its own, so that its exchanges are known.
      const sender = moduleSender(record(handler, recordings.get(name)!));
      const [result] = await runAll([vector], { target: withSender(target, sender), ...RUN });
      results.set(name, result!);
    };
    const queue = group.filter((each) => !runsAlone(each));
    await Promise.all(Array.from({ length: target.jobs }, async () => {
      for (let vector = queue.shift(); vector; vector = queue.shift()) await runOne(vector);
    }));
    for (const vector of group.filter(runsAlone)) await runOne(vector);
    await close();
  }
  return vectors.map(({ name }) => results.get(name)!);
}

export async function closeBaseline({ targets }: Baseline): Promise<void> {
  for (const { target } of targets.values()) await target.close();
}

const kindOf = ({ isOpenai, isFapi, stdio }: Mutant): Kind =>
  stdio ? "stdio" : isOpenai ? "openai" : isFapi ? "fapi" : "http";

/** The first part of a mutant's or vector's name. */
export const suiteOf = ({ name }: { readonly name: string }): string => name.split("/")[0]!;

const isNamed = ({ killedBy }: Mutant, { name }: LoadedVector): boolean => killedBy.includes(name);

/** Slow vectors run only on mutants that name them. */
const isSlow = ({ vector }: LoadedVector): boolean => vector.slow === true;

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
  const affected = isWhole ? await listAffected(mutant, own, vectors) : new Set();
  const chosen = vectors.filter((each) => isNamed(mutant, each) || affected.has(each.name));
  const { target, close } = await startMutant(mutant, own.target);
  const results = await runAll(chosen, { target, ...RUN });
  await close();
  const notPassed = results.filter(({ name, outcome }) => outcome !== "pass" && !own.notPassing.has(name));
  const failed = notPassed.filter(({ outcome }) => /^(fail|warn|observe)$/.test(outcome)).map(({ name }) =>
    name
  );
  const prefixes = Object.values(mutant.mayFail ?? {}).flat();
  const patterns = Object.values(mutant.mayFailWith ?? {});
  const isExpected = ({ name, outcome, reason = "" }: Result): boolean =>
    killedBy.includes(name) || prefixes.some((prefix) => name.startsWith(prefix)) ||
    patterns.some((pattern) => pattern.test(reason)) ||
    preventsSetup !== undefined && outcome === "setup";
  const unexpected = notPassed.filter((result) => !isExpected(result));
  const survived = killedBy.filter((name) => !failed.includes(name));
  return {
    notPassed: notPassed.map(({ name }) => name),
    failed,
    survived,
    unchanged: await listUnchanged(mutant, own, survived),
    unexpected: unexpected.map(({ name }) => name),
    reasons: Object.fromEntries(
      unexpected.map(({ name, outcome, reason }) => [name, `${outcome}: ${reason}`]),
    ),
  };
}

/** The vectors of the suite that pass without the fault and that it may affect. */
async function listAffected(
  mutant: Mutant,
  { recordings, notPassing }: BaselineTarget,
  vectors: readonly LoadedVector[],
): Promise<ReadonlySet<string>> {
  const suite = vectors.filter((each) =>
    suiteOf(each) === suiteOf(mutant) && !isSlow(each) && !notPassing.has(each.name)
  ).map(({ name }) => name);
  const { wrap, store, isClockStopped } = mutant;
  if (!wrap || store || isClockStopped) return new Set(suite);
  return await findAffected(wrap, new Map(suite.map((name) => [name, recordings.get(name) ?? []])));
}

/** The vectors whose recorded exchanges a fault of requests and responses leaves as they are. */
async function listUnchanged(
  { wrap, store, isClockStopped }: Mutant,
  { recordings }: BaselineTarget,
  names: readonly string[],
): Promise<string[]> {
  if (!wrap || store || isClockStopped || names.length === 0) return [];
  const affected = await findAffected(wrap, new Map(names.map((name) => [name, recordings.get(name) ?? []])));
  return names.filter((name) => !affected.has(name));
}

async function startMutant(
  mutant: Mutant,
  baseline: Target,
): Promise<{ target: Target; close: () => Promise<void> }> {
  const { wrap, stdio } = mutant;
  if (stdio) return { target: { ...baseline, stdio: stdioProgram(stdio) }, close: () => Promise.resolve() };
  const { target, handler, close } = await startServer(mutant, baseline);
  return { target: withSender(target, moduleSender(wrap?.(handler) ?? handler)), close };
}

/** Starts Trivet with the faults of a mutant that are inside it. */
async function startServer(
  { store, isClockStopped, isOpenai, isFapi }: Pick<
    Mutant,
    "store" | "isClockStopped" | "isOpenai" | "isFapi"
  >,
  baseline: Target,
): Promise<{ target: Target; handler: Handler; close: () => Promise<void> }> {
  const own = await start({
    base: baseline.base,
    openai: isOpenai === true,
    fapi: isFapi === true,
    openid: true,
    ...(store && { openStore: (now) => Promise.resolve(store(memoryStore({ now }))) }),
  });
  const procedures = new Map<string, Procedure>([
    ...baseline.procedures,
    ...Object.entries(own.procedures ?? {}),
    ...(isClockStopped ? [["advance", () => {}] as const] : []),
  ]);
  return {
    target: { ...baseline, advanced: 0, procedures },
    handler: async (request) => await own.fetch(request),
    close: async () => await own.close?.(),
  };
}
