/**
 * Runs the vectors against a mutant, and compares what turned red with what it says. There are three grounds: Trivet over
 * HTTP, the same with OpenAI's dialect of the Skills API, and on standard input and output.
 *
 * @module
 */
import { fileURLToPath } from "node:url";
import { memoryStore } from "../../src/mod.ts";
import { type Loaded, loadRequirements, loadVectors } from "../runner/vector/load.ts";
import { runAll } from "../runner/run.ts";
import { moduleSender } from "../runner/exchange/send_module.ts";
import { openTarget } from "../runner/target/open_target.ts";
import { type Target } from "../runner/target/target.ts";
import type { Procedure } from "../runner/target/target_description.ts";
import type { Result } from "../runner/vector/vector.ts";
import { start } from "../targets/trivet.ts";
import type { Handler, Mutant } from "./mutant.ts";
import { stdioProgram } from "./mcp/stdio_ground.ts";

const ROOT = fileURLToPath(new URL("..", import.meta.url));
const targetOf = (name: string): string => fileURLToPath(new URL(`../targets/${name}`, import.meta.url));
const ASKED: Readonly<Record<Kind, Parameters<typeof openTarget>[0]>> = {
  http: { module: targetOf("trivet.ts") },
  openai: { target: targetOf("trivet_openai.json") },
  stdio: { target: targetOf("trivet_stdio.json") },
};
/** The same random values in every run: what turns red does so because of the fault. */
const SEED = "mutants";

/** What a mutant is made of. */
type Kind = "http" | "openai" | "stdio";

/** Where mutants of a kind are hunted. */
export interface Ground {
  /** Trivet without a fault: features, variables and procedures are its. */
  readonly sound: Target;
  /** Vectors that do not pass without any fault either, and why. */
  readonly redBefore: ReadonlyMap<string, string>;
  /** Of each vector that was asked, the paths that it asked of Trivet without a fault. */
  readonly paths: ReadonlyMap<string, ReadonlySet<string>>;
}

export interface Hunt {
  readonly vectors: readonly Loaded[];
  readonly grounds: ReadonlyMap<Kind, Ground>;
  /** Vectors that pass on no ground without a fault, and why. */
  readonly redBefore: ReadonlyMap<string, string>;
}

/** How long an answer is waited for: faults are found in what never comes, too, and nothing here is far away. */
const SECONDS = 5;

export interface Caught {
  readonly red: readonly string[];
  /** Of these, those that were asked and answered wrongly: not `setup`, which says that the question never came. */
  readonly failed: readonly string[];
  /** Named in `breaks`, and not among those that failed. */
  readonly missed: readonly string[];
  /** Red, and neither in `breaks` nor in `mayBreak`, nor stopped with a reason. */
  readonly beyond: readonly string[];
  /** What was wrong with those beyond. */
  readonly why: Readonly<Record<string, string>>;
}

/** Asks the suites of these mutants of Trivet without a fault. */
export async function prepare(mutants: readonly Mutant[]): Promise<Hunt> {
  const suites = [...new Set(mutants.map(suiteOf))];
  const vectors = loadVectors(ROOT, suites, loadRequirements(ROOT));
  const grounds = new Map<Kind, Ground>();
  for (const kind of new Set(mutants.map(kindOf))) {
    const own = mutants.filter((mutant) => kindOf(mutant) === kind);
    grounds.set(kind, await look(kind, vectors, own));
  }
  const all = [...grounds.values()];
  // A ground asks the suites of its own mutants alone.
  const redBefore = all.flatMap((each) => [...each.redBefore]).filter(([name]) =>
    all.every(({ paths, redBefore }) => !paths.has(name) || redBefore.has(name))
  );
  return { vectors, grounds, redBefore: new Map(redBefore) };
}

/** What comes of the vectors on a ground without a fault. */
async function look(kind: Kind, vectors: readonly Loaded[], mutants: readonly Mutant[]): Promise<Ground> {
  const sound = await openTarget({ ...ASKED[kind], seconds: SECONDS });
  const target = kind === "stdio" ? { ...sound, stdio: stdioProgram(() => ({})) } : sound;
  const asked = vectors.filter((each) =>
    mutants.some((mutant) => names(mutant, each) || suiteOf(mutant) === suiteOf(each) && !isSlow(each))
  );
  const results = await runAll(asked, { target, seed: SEED, mostWaiting: 0 });
  const red = results.filter(({ outcome }) => outcome !== "pass");
  return {
    sound: target,
    redBefore: new Map(red.map(({ name, outcome, reason }) => [name, `${outcome}: ${reason}`])),
    paths: new Map(results.map((result) => [result.name, pathsOf(result)])),
  };
}

export async function leave({ grounds }: Hunt): Promise<void> {
  for (const { sound } of grounds.values()) await sound.close();
}

const kindOf = ({ isOpenai, lines }: Mutant): Kind => lines ? "stdio" : isOpenai ? "openai" : "http";

export const suiteOf = ({ name }: { readonly name: string }): string => name.split("/")[0]!;

const names = ({ breaks }: Mutant, { name }: Loaded): boolean => breaks.includes(name);

/** What costs much is asked of mutants that name it. */
const isSlow = ({ vector }: Loaded): boolean => vector.slow === true;

function pathsOf({ exchanges }: Result): ReadonlySet<string> {
  return new Set(exchanges.map(({ request }) => /^\S+ ([^\s?]*)/.exec(request)?.[1] ?? ""));
}

/** @param all every vector, not only those that have to turn red */
export async function hunt(mutant: Mutant, hunting: Hunt, all: boolean): Promise<Caught> {
  const { vectors } = hunting;
  const ground = hunting.grounds.get(kindOf(mutant))!;
  const { sound, redBefore } = ground;
  const { breaks, stops } = mutant;
  const unknown = breaks.filter((name) => !vectors.some((each) => each.name === name));
  if (unknown.length > 0) throw new TypeError(`"${mutant.name}" breaks what is no vector: ${unknown}`);
  const asked = vectors.filter((each) => names(mutant, each) || all && mayMeet(mutant, each, ground));
  const { target, close } = await infect(mutant, sound);
  const results = await runAll(asked, { target, seed: SEED, mostWaiting: 0 });
  await close();
  const red = results.filter(({ name, outcome }) => outcome !== "pass" && !redBefore.has(name));
  const failed = red.filter(({ outcome }) => /^(fail|warn|observe)$/.test(outcome)).map(({ name }) => name);
  const allowed = Object.values(mutant.mayBreak ?? {}).flat();
  const isAllowed = ({ name, outcome }: Result): boolean =>
    breaks.includes(name) || allowed.some((start) => name.startsWith(start)) ||
    stops !== undefined && outcome === "setup";
  const beyond = red.filter((result) => !isAllowed(result));
  return {
    red: red.map(({ name }) => name),
    failed,
    missed: breaks.filter((name) => !failed.includes(name)),
    beyond: beyond.map(({ name }) => name),
    why: Object.fromEntries(beyond.map(({ name, outcome, reason }) => [name, `${outcome}: ${reason}`])),
  };
}

/** Until its first request to where the fault is, a vector meets Trivet as it is. */
function mayMeet(mutant: Mutant, vector: Loaded, { paths, redBefore }: Ground): boolean {
  const { wrap, store, isTimeless } = mutant;
  if (suiteOf(vector) !== suiteOf(mutant) || isSlow(vector) || redBefore.has(vector.name)) return false;
  const path = store || isTimeless ? undefined : wrap?.path;
  return path === undefined || paths.get(vector.name)?.has(path) !== false;
}

async function infect(
  { wrap, store, isTimeless, isOpenai, lines }: Mutant,
  sound: Target,
): Promise<{ target: Target; close: () => Promise<void> }> {
  if (lines) return { target: { ...sound, stdio: stdioProgram(lines) }, close: () => Promise.resolve() };
  const own = await start({
    base: sound.base,
    openai: isOpenai === true,
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
