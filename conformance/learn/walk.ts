/**
 * Walks one vector a step at a time, so that whoever watches sees each exchange before the next is made. Outcomes are
 * those of a run (`FORMAT.md` section 7).
 *
 * @module
 */
import type { Loaded } from "../runner/vector/load.ts";
import { maskerFor } from "../runner/report/mask.ts";
import { automaticNeeds, missing } from "../runner/vector/need.ts";
import { NotClaimed } from "../runner/outcome.ts";
import { runStep } from "../runner/step.ts";
import type { Target } from "../runner/target/target.ts";
import type { Step } from "../runner/vector/vector_file.ts";
import { type Exchange, leave, type World } from "../runner/world.ts";

export interface Walked {
  readonly step: Step;
  /** It belongs to what comes before every vector of the file. */
  readonly isBefore: boolean;
  /** The vector's question is asked with it. */
  readonly isLast: boolean;
  /** What was sent and what came; none for a step that only computes. */
  readonly exchanges: readonly Exchange[];
  /** Why it did not come out as expected. */
  readonly failure?: string;
}

export interface Walk {
  readonly target: Target;
  readonly seed: string;
  /** Secrets are replaced by labels. */
  readonly isMasked: boolean;
}

export interface End {
  readonly outcome: "held" | "broken" | "skipped";
  readonly reason?: string;
}

/** Ends with how it came out. Who stops early leaves nothing open. */
export async function* walk(
  { name, vector, file }: Loaded,
  { target, seed, isMasked }: Walk,
): AsyncGenerator<Walked, End> {
  const before = file.before ?? [];
  const steps = [...before, ...vector.steps];
  const needs = [...file.needs ?? [], ...vector.needs ?? [], ...automaticNeeds(steps)];
  const lacking = missing(needs, target, false);
  if (lacking.length > 0) {
    return {
      outcome: "skipped",
      reason: `the server does not claim ${lacking.map((need) => `"${need}"`).join(", ")}`,
    };
  }
  const world: World = {
    target,
    seed,
    name,
    mostWaiting: 0,
    isSelf: false,
    variables: structuredClone(target.variables) as Record<string, unknown>,
    jars: new Map(),
    streams: new Map(),
    exchanges: [],
    stdio: undefined,
    last: {},
  };
  const mask = isMasked ? maskerFor(target.variables) : (text: string) => text;
  try {
    for (const [position, step] of steps.entries()) {
      const known = world.exchanges.length;
      const failure = await tryStep(step, world);
      if (failure instanceof NotClaimed) {
        return { outcome: "skipped", reason: `the server does not offer ${failure.message}` };
      }
      const exchanges = world.exchanges.slice(known).map((each) => ({
        step: each.step,
        request: mask(each.request),
        answer: mask(each.answer),
      }));
      const reason = failure && mask(failure.message);
      const isBefore = position < before.length;
      const isLast = position === steps.length - 1 || failure !== undefined;
      yield { step, isBefore, isLast, exchanges, ...(reason !== undefined && { failure: reason }) };
      if (reason !== undefined) return { outcome: "broken", reason };
    }
    return { outcome: "held" };
  } finally {
    await leave(world);
  }
}

async function tryStep(step: Step, world: World): Promise<Error | undefined> {
  try {
    await runStep(step, world);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
