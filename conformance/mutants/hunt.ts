/**
 * Runs the vectors against a mutant, and compares what turned red with what it says.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { memoryStore } from "../../src/mod.ts";
import { type Loaded, loadRequirements, loadVectors } from "../runner/load.ts";
import { runAll } from "../runner/run.ts";
import { moduleSender } from "../runner/send_module.ts";
import { openTarget, type Target } from "../runner/target.ts";
import type { Procedure } from "../runner/target_file.ts";
import type { Result } from "../runner/vector.ts";
import { start } from "../targets/trivet.ts";
import type { Handler, Mutant } from "./mutant.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const MODULE = fileURLToPath(new URL("../targets/trivet.ts", import.meta.url));
/** The same random values in every run: what turns red does so because of the fault. */
const SEED = "mutants";

export interface Hunt {
  readonly vectors: readonly Loaded[];
  /** Trivet without a fault: features, variables and procedures are its. */
  readonly sound: Target;
  /** Vectors that do not pass without any fault either, and why. */
  readonly redBefore: ReadonlyMap<string, string>;
  /** Paths that a vector asked of Trivet without a fault. */
  readonly paths: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface Caught {
  readonly red: readonly string[];
  /** Of these, those that were asked and answered wrongly: not `setup`, which says that the question never came. */
  readonly failed: readonly string[];
  /** Named in `breaks`, and not among those that failed. */
  readonly missed: readonly string[];
  /** Red, and neither in `breaks` nor in `mayBreak`, nor stopped with a reason. */
  readonly beyond: readonly string[];
}

/** Asks the suites of these mutants of Trivet without a fault. */
export async function prepare(mutants: readonly Mutant[]): Promise<Hunt> {
  const suites = [...new Set(mutants.map(suiteOf))];
  const vectors = loadVectors(ROOT, suites, loadRequirements(ROOT));
  const sound = await openTarget({ module: MODULE });
  const asked = vectors.filter((each) => !isSlow(each) || mutants.some((mutant) => names(mutant, each)));
  const results = await runAll(asked, { target: sound, seed: SEED, mostWaiting: 0 });
  const red = results.filter(({ outcome }) => outcome !== "pass");
  return {
    vectors,
    sound,
    redBefore: new Map(red.map(({ name, outcome, reason }) => [name, `${outcome}: ${reason}`])),
    paths: new Map(results.map((result) => [result.name, pathsOf(result)])),
  };
}

export const suiteOf = ({ name }: { readonly name: string }): string => name.split("/")[0]!;

const names = ({ breaks }: Mutant, { name }: Loaded): boolean => breaks.includes(name);

/** What costs much is asked of mutants that name it. */
const isSlow = ({ vector }: Loaded): boolean => vector.slow === true;

function pathsOf({ exchanges }: Result): ReadonlySet<string> {
  return new Set(exchanges.map(({ request }) => /^\S+ ([^\s?]*)/.exec(request)?.[1] ?? ""));
}

/** @param all every vector, not only those that have to turn red */
export async function hunt(mutant: Mutant, hunting: Hunt, all: boolean): Promise<Caught> {
  const { vectors, sound, redBefore } = hunting;
  const { breaks, stops } = mutant;
  const unknown = breaks.filter((name) => !vectors.some((each) => each.name === name));
  if (unknown.length > 0) throw new TypeError(`"${mutant.name}" breaks what is no vector: ${unknown}`);
  const asked = vectors.filter((each) => names(mutant, each) || all && mayMeet(mutant, each, hunting));
  const { target, close } = await infect(mutant, sound);
  const results = await runAll(asked, { target, seed: SEED, mostWaiting: 0 });
  await close();
  const red = results.filter(({ name, outcome }) => outcome !== "pass" && !redBefore.has(name));
  const failed = red.filter(({ outcome }) => /^(fail|warn|observe)$/.test(outcome)).map(({ name }) => name);
  const allowed = Object.values(mutant.mayBreak ?? []).flat();
  const isAllowed = ({ name, outcome }: Result): boolean =>
    breaks.includes(name) || allowed.some((start) => name.startsWith(start)) ||
    stops !== undefined && outcome === "setup";
  return {
    red: red.map(({ name }) => name),
    failed,
    missed: breaks.filter((name) => !failed.includes(name)),
    beyond: red.filter((result) => !isAllowed(result)).map(({ name }) => name),
  };
}

/** Until its first request to where the fault is, a vector meets Trivet as it is. */
function mayMeet(mutant: Mutant, vector: Loaded, { paths }: Hunt): boolean {
  const { wrap, store, isTimeless } = mutant;
  if (suiteOf(vector) !== suiteOf(mutant) || isSlow(vector)) return false;
  const path = store || isTimeless ? undefined : wrap?.path;
  return path === undefined || paths.get(vector.name)?.has(path) !== false;
}

async function infect(
  { wrap, store, isTimeless }: Mutant,
  sound: Target,
): Promise<{ target: Target; close: () => Promise<void> }> {
  const own = await start({
    base: sound.base,
    ...(store && { openStore: (now) => Promise.resolve(store(memoryStore({ now }))) }),
  });
  const served: Handler = async (request) => await own.fetch(request);
  const procedures = new Map<string, Procedure>([
    ...sound.procedures,
    ...Object.entries(own.procedures ?? {}),
    ...(isTimeless ? [["advance", () => {}] as const] : []),
  ]);
  const target = { ...sound, advanced: 0, procedures, sender: moduleSender(wrap?.(served) ?? served) };
  return { target, close: async () => await own.close?.() };
}
