/**
 * How a vector comes out (`FORMAT.md` section 7), and the two ways of leaving one early.
 *
 * @module
 */
import type { OutcomeWord, Requirement } from "./vector/vector_file.ts";

/** The server did not do what was expected: the vector ends here. */
export class Unexpected extends Error {
  override readonly name = "Unexpected";
}

/** A procedure came to no end: the question behind it was not asked. */
export class Unfinished extends Unexpected {}

/** The kit is wrong: an unknown variable, a step that cannot be, a request outside the target. */
export class KitError extends Error {
  override readonly name = "KitError";
}

/** The question cannot be asked of this target, and it never said that it could. */
export class NotClaimed extends Error {
  override readonly name = "NotClaimed";
}

export type Strength = "MUST" | "SHOULD" | "MAY";

/** What a level of RFC 2119 asks for. No keyword (`IMPLIED`) is a SHOULD: the text says it, but leaves a way out. */
export function strengthOf(level: string): Strength {
  if (/^(MUST|SHALL|REQUIRED)/.test(level)) return "MUST";
  return /^(MAY|OPTIONAL)/.test(level) ? "MAY" : "SHOULD";
}

/** The strongest of some rows; a vector is as grave as that. */
export function strongest(rows: readonly Requirement[]): Strength {
  const all = new Set(rows.map((row) => strengthOf(row.level)));
  return all.has("MUST") ? "MUST" : all.has("SHOULD") ? "SHOULD" : "MAY";
}

/** The word for a vector that did not come out as expected. */
export function failureWord(strength: Strength): OutcomeWord {
  return strength === "MUST" ? "fail" : strength === "SHOULD" ? "warn" : "observe";
}

/** Words that make a run fail. */
export const COUNTING: ReadonlySet<OutcomeWord> = new Set(["fail", "setup", "error"]);
