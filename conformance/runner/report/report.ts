/**
 * What came of a run, before it is printed in one form or another. Secrets are already masked in it.
 *
 * @module
 */
import { join } from "node:path";
import type { Arguments } from "../arguments.ts";
import { readBaseline, readSet } from "./baseline.ts";
import { type Figures, figuresOf, type RowResult, rowResults } from "./coverage.ts";
import type { Loaded, Requirements, Row } from "../vector/load.ts";
import { type Lack, lacksOf } from "../vector/lacks.ts";
import { maskerFor } from "./mask.ts";
import { COUNTING } from "../outcome.ts";
import type { Target } from "../target/target.ts";
import type { OutcomeWord } from "../vector/vector_file.ts";
import type { Result } from "../vector/vector.ts";

export interface Reported extends Result {
  /** The outcome makes the run fail. */
  readonly counts: boolean;
  /** Why a failure was expected. */
  readonly expected?: string;
  readonly rows: readonly Row[];
}

export interface Report {
  readonly suites: readonly string[];
  readonly seed: string;
  readonly started: Date;
  readonly seconds: number;
  readonly target: {
    readonly name: string;
    readonly version?: string;
    readonly base: string;
    readonly features: readonly string[];
    /** What it showed of itself. */
    readonly notes?: readonly string[];
  };
  readonly summary: Readonly<Record<OutcomeWord, number>>;
  readonly passed: boolean;
  /** Listed as failing, but passing: their line in the baseline is to be removed. */
  readonly stale: readonly string[];
  /** How many vectors were asked: all that were not skipped. */
  readonly asked: number;
  /** What the target would need to be asked more. */
  readonly lacks: readonly Lack[];
  readonly vectors: readonly Reported[];
  readonly rows: readonly RowResult[];
  readonly figures: readonly Figures[];
}

export interface Ran {
  readonly asked: Arguments;
  readonly root: string;
  readonly target: Target;
  readonly requirements: Requirements;
  readonly vectors: readonly Loaded[];
  readonly results: readonly Result[];
  readonly seed: string;
  readonly started: Date;
}

/** @throws {LoadError} for a baseline or set that cannot be used */
export function toReport({ asked: words, root, target, requirements, results, seed, started }: Ran): Report {
  const baseline = readBaseline(words.baseline, target.deviations);
  const set = words.set === undefined ? undefined : readSet(join(root, "sets.json"), words.set);
  const summary: Record<OutcomeWord, number> = {
    pass: 0,
    fail: 0,
    warn: 0,
    observe: 0,
    skip: 0,
    setup: 0,
    error: 0,
  };
  const vectors = results.map((result): Reported => {
    summary[result.outcome]++;
    const beyond = set && !set.has(result.name) ? `not in the set ${words.set}` : undefined;
    const expected = isFailure(result.outcome) ? beyond ?? baseline.get(result.name) : undefined;
    const mask = maskerFor(target.variables);
    // First, since they tell what is secret.
    const exchanges = result.exchanges.map((each) => ({
      ...each,
      request: mask(each.request),
      answer: mask(each.answer),
    }));
    return {
      ...result,
      ...(result.reason !== undefined && { reason: mask(result.reason) }),
      exchanges,
      counts: expected === undefined &&
        (COUNTING.has(result.outcome) || words.strict && result.outcome === "warn"),
      ...(expected !== undefined && { expected }),
      rows: result.covers.flatMap((id) => requirements.rows.get(id) ?? []),
    };
  });
  // A race that was won once may be lost the next time.
  const stale = results
    .filter(({ name, outcome, flags }) => baseline.has(name) && outcome === "pass" && !flags.includes("race"))
    .map(({ name }) => name);
  const asked = results.filter(({ outcome }) => outcome !== "skip").length;
  const rows = rowResults(requirements, results);
  const mask = maskerFor(target.variables);
  return {
    suites: words.suites,
    seed,
    started,
    seconds: (Date.now() - started.getTime()) / 1000,
    target: {
      name: mask(target.name),
      ...(target.version !== undefined && { version: target.version }),
      base: mask(target.base),
      features: [...target.features].sort(),
      ...(target.notes && { notes: target.notes.map(mask) }),
    },
    summary,
    passed: asked > 0 && stale.length === 0 && vectors.every(({ counts }) => !counts),
    stale,
    asked,
    lacks: lacksOf(results, root),
    vectors,
    rows,
    figures: figuresOf(rows, requirements),
  };
}

const GRAVITY: readonly OutcomeWord[] = ["fail", "error", "setup", "warn", "observe"];

/** What is not as it should be, gravest first; what counts before what was expected. */
export function findingsOf({ vectors }: Report): Reported[] {
  const rank = ({ outcome, expected }: Reported) =>
    GRAVITY.indexOf(outcome) + (expected === undefined ? 0 : 10);
  return vectors.filter(({ outcome }) => isFailure(outcome)).sort((one, other) => rank(one) - rank(other));
}

/** Findings that have one reason: the first, and all that share it. A procedure that fails, fails for many. */
export function sharing(findings: readonly Reported[]): Reported[][] {
  const groups = Map.groupBy(
    findings,
    ({ outcome, step, reason, name }) => outcome === "setup" ? `${step} ${reason}` : name,
  );
  return [...groups.values()];
}

const MAX_LINE_CHARACTERS = 120;

/** What was asked and what came, each in a line. */
export function lastExchange({ exchanges }: Reported): [request?: string, answer?: string] {
  const last = exchanges.at(-1);
  if (!last) return [];
  const cut = (text: string) =>
    text.length > MAX_LINE_CHARACTERS ? `${text.slice(0, MAX_LINE_CHARACTERS)}…` : text;
  const [head = "", ...body] = last.answer.split("\n\n");
  const [status = "", ...fields] = head.split("\n");
  const location = fields.find((field) => field.startsWith("location: "));
  const answer = [status, ...(location ? [location] : []), ...body].join(" ").replace(/\s+/g, " ").trim();
  const request = cut(last.request.split("\n")[0]!);
  return answer === "" ? [request] : [request, cut(answer)];
}

function isFailure(outcome: OutcomeWord): boolean {
  return outcome !== "pass" && outcome !== "skip";
}
