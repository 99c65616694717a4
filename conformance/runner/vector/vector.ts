/**
 * Runs one vector: the steps of `before`, then its own, in a context of its own. The result is one of seven
 * outcomes.
 *
 * @module
 */
import { findImpliedNeeds, findUnmetNeeds } from "./needs.ts";
import { ExpectationFailed, KitError, NotClaimed, ProcedureFailed, type Strength } from "../outcome.ts";
import { runStep } from "../step.ts";
import type { Target } from "../target/target.ts";
import type { FailureClass, Outcome, Step } from "./vector_file.ts";
import { judgeStep, type Verdict } from "../verdict/verdict.ts";
import type { LoadedVector } from "./load.ts";
import { closeContext, createContext, type Exchange, type VectorContext } from "../context.ts";

export interface Result {
  readonly name: string;
  readonly title: string;
  readonly outcome: Outcome;
  readonly strength: Strength;
  readonly covers: readonly string[];
  readonly flags: readonly string[];
  /** The class of a failure. */
  readonly class?: FailureClass;
  /** Flags whose impact was observed. */
  readonly harm: readonly string[];
  /** Ids of the covered rows that failed. The others are met. */
  readonly failed: readonly string[];
  readonly seconds: number;
  /** Title of the step that failed. */
  readonly step?: string;
  readonly reason?: string;
  /** Needs that the target does not meet. */
  readonly lacks?: readonly string[];
  readonly exchanges: readonly Exchange[];
  /** Whether the last exchange got no complete response. */
  readonly isUnreachable: boolean;
}

/** Failures of an exchange that suggest an unreachable target. */
const UNREACHABLE_BREAKS: ReadonlySet<unknown> = new Set(["hung", "refused", "flooded"]);

export interface Run {
  readonly target: Target;
  readonly seed: string;
  readonly maxWaitSeconds: number;
  /** Why no further vector is run. */
  readonly notRunReason?: string;
}

/** Never throws: every error becomes an outcome. */
export async function runVector(loaded: LoadedVector, run: Run): Promise<Result> {
  const { vector, file, name, rows, strength } = loaded;
  const start = performance.now();
  const context = createContext(name, run, file.suite.startsWith("self/"));
  const result = (
    outcome: Outcome,
    { step, reason }: { step?: string; reason?: string } = {},
    { class: failureClass, harm = [], failed = [] }: Partial<Verdict> = {},
  ): Result => ({
    name,
    title: vector.title,
    outcome,
    strength,
    covers: rows.map(({ id }) => id),
    flags: vector.flags ?? [],
    ...(failureClass !== undefined && { class: failureClass }),
    harm,
    failed,
    seconds: (performance.now() - start) / 1000,
    exchanges: copyDetached(context.exchanges),
    isUnreachable: outcome !== "pass" && UNREACHABLE_BREAKS.has(context.last["broken"]),
    ...(step !== undefined && { step }),
    ...(reason !== undefined && { reason: copyDetached(reason) }),
  });
  const needs = [
    ...file.needs ?? [],
    ...vector.needs ?? [],
    ...findImpliedNeeds([...file.before ?? [], ...vector.steps]),
  ];
  const lacks = findUnmetNeeds(needs, run.target, run.maxWaitSeconds > 0);
  if (lacks.length > 0) {
    const reason = `the target does not declare ${lacks.map((need) => `"${need}"`).join(", ")}`;
    return { ...result("skip", { reason }), lacks };
  }
  if (run.notRunReason !== undefined) {
    return { ...result("setup", { reason: run.notRunReason }), isUnreachable: true };
  }
  try {
    const before = await runSteps(file.before ?? [], context);
    if (before) {
      return result(before.error instanceof NotClaimed ? "skip" : toOutcome(before.error, "setup"), before);
    }
    const failed = await runSteps(vector.steps, context);
    if (!failed) return result("pass");
    if (failed.error instanceof NotClaimed) return result("skip", failed);
    // A failing procedure fails the vector only if the step expects something of it.
    const isAsked = !(failed.error instanceof ProcedureFailed) &&
      (failed.at.call === undefined || failed.at.expect);
    if (!isAsked || !(failed.error instanceof ExpectationFailed)) {
      return result(toOutcome(failed.error, "setup"), failed);
    }
    const verdict = judgeStep(failed.error, rows, failed.at.covers, vector.flags ?? []);
    return result(verdict.outcome, failed, verdict);
  } finally {
    await closeContext(context);
  }
}

/** A deep copy. A substring may keep a long response in memory, its copy does not. */
function copyDetached<T>(value: T): T {
  return JSON.parse(JSON.stringify(value));
}

interface FailedStep {
  readonly at: Step;
  readonly step: string;
  readonly reason: string;
  readonly error: unknown;
}

async function runSteps(steps: readonly Step[], context: VectorContext): Promise<FailedStep | undefined> {
  for (const [position, at] of steps.entries()) {
    try {
      await runStep(at, context);
    } catch (error) {
      const step = at.title ?? at.call ?? `step ${position + 1}`;
      const said = error instanceof Error ? error.message : String(error);
      const reason = error instanceof NotClaimed ? `the target does not declare ${said}` : said;
      return { at, step, reason, error };
    }
  }
  return undefined;
}

/** A failed expectation has the given outcome. Any other error is a fault of the kit. */
function toOutcome(error: unknown, word: Outcome): Outcome {
  return error instanceof ExpectationFailed ? word : error instanceof KitError || error ? "error" : word;
}
