/**
 * Runs one vector step by step, so that each exchange can be shown before the next. Outcomes are those of a
 * run (`FORMAT.md` section 7).
 *
 * @module
 */
import type { LoadedVector } from "../runner/vector/load.ts";
import { createMasker } from "../runner/report/mask.ts";
import { findImpliedNeeds, findUnmetNeeds } from "../runner/vector/needs.ts";
import { NotClaimed } from "../runner/outcome.ts";
import { runStep } from "../runner/step.ts";
import type { Target } from "../runner/target/target.ts";
import type { Step } from "../runner/vector/vector_file.ts";
import { closeContext, type Exchange, type VectorContext } from "../runner/context.ts";

export interface WalkedStep {
  readonly step: Step;
  /** Whether the step belongs to `before`. */
  readonly isBefore: boolean;
  /** Whether this is the last step, because of its position or a failure. */
  readonly isLast: boolean;
  /** The exchanges of the step. Empty if it only computes. */
  readonly exchanges: readonly Exchange[];
  /** Why the step failed. */
  readonly failure?: string;
}

export interface WalkSettings {
  readonly target: Target;
  readonly seed: string;
  /** Whether secrets are replaced by labels. */
  readonly isMasked: boolean;
}

export interface End {
  readonly outcome: "passed" | "failed" | "skipped";
  readonly reason?: string;
}

/** Yields each step and returns the outcome. Ending the iteration early closes everything. */
export async function* walkVector(
  { name, vector, file }: LoadedVector,
  { target, seed, isMasked }: WalkSettings,
): AsyncGenerator<WalkedStep, End> {
  const before = file.before ?? [];
  const steps = [...before, ...vector.steps];
  const needs = [...file.needs ?? [], ...vector.needs ?? [], ...findImpliedNeeds(steps)];
  const lacking = findUnmetNeeds(needs, target, false);
  if (lacking.length > 0) {
    return {
      outcome: "skipped",
      reason: `the target does not declare ${lacking.map((need) => `"${need}"`).join(", ")}`,
    };
  }
  const context: VectorContext = {
    target,
    seed,
    name,
    maxWaitSeconds: 0,
    isSelf: false,
    variables: structuredClone(target.variables) as Record<string, unknown>,
    jars: new Map(),
    streams: new Map(),
    exchanges: [],
    stdio: undefined,
    last: {},
  };
  const mask = isMasked ? createMasker(target.variables) : (text: string) => text;
  try {
    for (const [position, step] of steps.entries()) {
      const known = context.exchanges.length;
      const failure = await tryStep(step, context);
      if (failure instanceof NotClaimed) {
        return { outcome: "skipped", reason: `the target does not declare ${failure.message}` };
      }
      const exchanges = context.exchanges.slice(known).map((each) => ({
        step: each.step,
        request: mask(each.request),
        answer: mask(each.answer),
      }));
      const reason = failure && mask(failure.message);
      const isBefore = position < before.length;
      const isLast = position === steps.length - 1 || failure !== undefined;
      yield { step, isBefore, isLast, exchanges, ...(reason !== undefined && { failure: reason }) };
      if (reason !== undefined) return { outcome: "failed", reason };
    }
    return { outcome: "passed" };
  } finally {
    await closeContext(context);
  }
}

async function tryStep(step: Step, context: VectorContext): Promise<Error | undefined> {
  try {
    await runStep(step, context);
    return undefined;
  } catch (error) {
    return error instanceof Error ? error : new Error(String(error));
  }
}
