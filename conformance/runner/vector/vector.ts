/**
 * One vector: `before`, then its steps, in a world of its own, to one of seven outcomes.
 *
 * @module
 */
import { automaticNeeds, missing } from "./need.ts";
import { failureWord, KitError, NotClaimed, type Strength, Unexpected, Unfinished } from "../outcome.ts";
import { runStep } from "../step.ts";
import type { Target } from "../target/target.ts";
import type { OutcomeWord, Step } from "./vector_file.ts";
import type { Loaded } from "./load.ts";
import { type Exchange, leave, newWorld, type World } from "../world.ts";

export interface Result {
  readonly name: string;
  readonly title: string;
  readonly outcome: OutcomeWord;
  readonly strength: Strength;
  readonly covers: readonly string[];
  readonly flags: readonly string[];
  readonly seconds: number;
  /** Title of the step that ended it. */
  readonly step?: string;
  readonly reason?: string;
  /** Needs that the target does not meet. */
  readonly lacks?: readonly string[];
  readonly exchanges: readonly Exchange[];
  /** Nobody answered in its last exchange, or without end. */
  readonly isGone: boolean;
}

/** Ways to break that cost time, and that a server which is well does not have. */
const GONE: ReadonlySet<unknown> = new Set(["hung", "refused", "flooded"]);

export interface Run {
  readonly target: Target;
  readonly seed: string;
  readonly mostWaiting: number;
  /** Why no vector is asked any more. */
  readonly isOver?: string;
}

/** Never throws: whatever goes wrong is an outcome. */
export async function runVector(loaded: Loaded, run: Run): Promise<Result> {
  const { vector, file, name, strength } = loaded;
  const start = performance.now();
  const world = newWorld(name, run, file.suite.startsWith("self/"));
  const result = (
    outcome: OutcomeWord,
    { step, reason }: { step?: string; reason?: string } = {},
  ): Result => ({
    name,
    title: vector.title,
    outcome,
    strength,
    covers: vector.covers,
    flags: vector.flags ?? [],
    seconds: (performance.now() - start) / 1000,
    exchanges: freed(world.exchanges),
    isGone: outcome !== "pass" && GONE.has(world.last["broken"]),
    ...(step !== undefined && { step }),
    ...(reason !== undefined && { reason: freed(reason) }),
  });
  const needs = [
    ...file.needs ?? [],
    ...vector.needs ?? [],
    ...automaticNeeds([...file.before ?? [], ...vector.steps]),
  ];
  const lacks = missing(needs, run.target, run.mostWaiting > 0);
  if (lacks.length > 0) {
    const reason = `the target does not claim ${lacks.map((need) => `"${need}"`).join(", ")}`;
    return { ...result("skip", { reason }), lacks };
  }
  if (run.isOver !== undefined) return { ...result("setup", { reason: run.isOver }), isGone: true };
  try {
    const before = await runSteps(file.before ?? [], world);
    if (before) {
      return result(before.error instanceof NotClaimed ? "skip" : wordOf(before.error, "setup"), before);
    }
    const failed = await runSteps(vector.steps, world);
    if (!failed) return result("pass");
    if (failed.error instanceof NotClaimed) return result("skip", failed);
    // A procedure is not the question: where it fails, the question was not asked.
    const isAsked = !(failed.error instanceof Unfinished) &&
      (failed.at.call === undefined || failed.at.expect);
    const word = isAsked ? failureWord(strength) : "setup";
    return result(wordOf(failed.error, word), failed);
  } finally {
    await leave(world);
  }
}

/** A copy that holds on to nothing: part of a text may keep the whole of it, and answers may be long. */
function freed<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

interface Failed {
  readonly at: Step;
  readonly step: string;
  readonly reason: string;
  readonly error: unknown;
}

async function runSteps(steps: readonly Step[], world: World): Promise<Failed | undefined> {
  for (const [position, at] of steps.entries()) {
    try {
      await runStep(at, world);
    } catch (error) {
      const step = at.title ?? at.call ?? `step ${position + 1}`;
      const said = error instanceof Error ? error.message : String(error);
      const reason = error instanceof NotClaimed ? `the target does not offer ${said}` : said;
      return { at, step, reason, error };
    }
  }
  return undefined;
}

/** What the server did is `word`; all else that is thrown is the kit's own fault. */
function wordOf(error: unknown, word: OutcomeWord): OutcomeWord {
  return error instanceof Unexpected ? word : error instanceof KitError || error ? "error" : word;
}
