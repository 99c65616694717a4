/**
 * The outcomes of a vector (`FORMAT.md` section 7), and the errors that end one early.
 *
 * @module
 */
import type { JsonObject, Outcome, Requirement } from "./vector/vector_file.ts";

/** A place where a value does not match its pattern. */
export interface Mismatch {
  /** Names and positions, joined by dots. */
  readonly path: string;
  readonly expected: string;
  readonly actual: string;
  /** The pattern of this place. */
  readonly pattern?: unknown;
}

/** Details of a failed expectation. */
export interface FailedExpectation extends ErrorOptions {
  readonly mismatches?: readonly Mismatch[];
  /** The pattern of the view. */
  readonly expected?: unknown;
  readonly view?: JsonObject | undefined;
  /** Whether more of several requests succeeded than expected. */
  readonly isExcess?: boolean;
}

/** The server did not do what the step expects. Ends the vector. */
export class ExpectationFailed extends Error {
  override readonly name: string = "ExpectationFailed";
  readonly mismatches: readonly Mismatch[];
  readonly expected: unknown;
  readonly view: JsonObject | undefined;
  readonly isExcess: boolean;

  constructor(
    message: string,
    { mismatches = [], expected, view, isExcess = false }: FailedExpectation = {},
  ) {
    super(message);
    this.mismatches = mismatches;
    this.expected = expected;
    this.view = view;
    this.isExcess = isExcess;
  }
}

/** A procedure of the target failed, so the vector could not test the server. */
export class ProcedureFailed extends ExpectationFailed {}

/** A fault of the kit or the vector: an unknown variable, an invalid step, a request to a foreign origin. */
export class KitError extends Error {
  override readonly name = "KitError";
}

/** The vector needs something that the target does not declare. Skips the vector. */
export class NotClaimed extends Error {
  override readonly name = "NotClaimed";
}

export type Strength = "MUST" | "SHOULD" | "MAY";

/** The strength of a requirement level (RFC 2119). A row without a keyword (`IMPLIED`) counts as SHOULD. */
export function toStrength(level: string): Strength {
  if (/^(MUST|SHALL|REQUIRED)/.test(level)) return "MUST";
  return /^(MAY|OPTIONAL)/.test(level) ? "MAY" : "SHOULD";
}

/** The strength of a vector: the strongest of the rows that it covers. */
export function getStrongest(rows: readonly Requirement[]): Strength {
  const all = new Set(rows.map((row) => toStrength(row.level)));
  return all.has("MUST") ? "MUST" : all.has("SHOULD") ? "SHOULD" : "MAY";
}

/** The outcome of a vector whose expectation is not met. */
export function toFailureOutcome(strength: Strength): Outcome {
  return strength === "MUST" ? "fail" : strength === "SHOULD" ? "warn" : "observe";
}

/** Outcomes that make a run fail. */
export const FAILING_OUTCOMES: ReadonlySet<Outcome> = new Set(["fail", "setup", "error"]);

/** Whether the vector was run and did not pass. */
export function isFailure(outcome: Outcome): boolean {
  return outcome !== "pass" && outcome !== "skip";
}
