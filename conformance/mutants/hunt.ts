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
  /** Vectors that do not pass without any fault either. */
  readonly redBefore: ReadonlySet<string>;
}

export interface Caught {
  readonly mutant: Mutant;
  readonly red: readonly string[];
  /** Named in `breaks`, and green all the same. */
  readonly missed: readonly string[];
  /** Red, and neither in `breaks` nor in `mayBreak`. */
  readonly beyond: readonly string[];
}

/** Asks the suites of these mutants of Trivet without a fault. */
export async function prepare(mutants: readonly Mutant[]): Promise<Hunt> {
  const suites = [...new Set(mutants.map(suiteOf))];
  const vectors = loadVectors(ROOT, suites, loadRequirements(ROOT));
  const sound = await openTarget({ module: MODULE });
  const asked = vectors.filter((each) => !isSlow(each) || mutants.some((mutant) => names(mutant, each)));
  const results = await runAll(asked, { target: sound, seed: SEED, mostWaiting: 0 });
  const redBefore = results.filter(({ outcome }) => outcome !== "pass").map(({ name }) => name);
  return { vectors, sound, redBefore: new Set(redBefore) };
}

const suiteOf = ({ name }: Mutant): string => name.split("/")[0]!;

const names = ({ breaks }: Mutant, { name }: Loaded): boolean => breaks.includes(name);

/** What costs much is asked of mutants that name it. */
const isSlow = ({ vector }: Loaded): boolean => vector.slow === true;

/** @param all every vector, not only those that have to turn red */
export async function hunt(
  mutant: Mutant,
  { vectors, sound, redBefore }: Hunt,
  all: boolean,
): Promise<Caught> {
  const unknown = mutant.breaks.filter((name) => !vectors.some((each) => each.name === name));
  if (unknown.length > 0) throw new TypeError(`"${mutant.name}" breaks what is no vector: ${unknown}`);
  const folder = `${suiteOf(mutant)}/`;
  const asked = vectors.filter((each) =>
    names(mutant, each) || all && each.name.startsWith(folder) && !isSlow(each)
  );
  const { target, close } = await infect(mutant, sound);
  const results = await runAll(asked, { target, seed: SEED, mostWaiting: 0 });
  await close();
  const red = results.filter(({ name, outcome }) => outcome !== "pass" && !redBefore.has(name))
    .map(({ name }) => name);
  const mayBreak = mutant.mayBreak ?? [];
  return {
    mutant,
    red,
    missed: mutant.breaks.filter((name) => !red.includes(name)),
    beyond: red.filter((name) =>
      !mutant.breaks.includes(name) && !mayBreak.some((start) => name.startsWith(start))
    ),
  };
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
