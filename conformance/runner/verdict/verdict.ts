/**
 * Judges a failed step: which covered rows failed, how severe that is, and which impact was observed
 * (`FORMAT.md` section 7).
 *
 * @module
 */
import { type ExpectationFailed, getStrongest, toFailureOutcome } from "../outcome.ts";
import type { FailureClass, Outcome, Requirement } from "../vector/vector_file.ts";
import { findBlamed } from "./blame.ts";
import { type CoveredRows, isAboutProtocol, sortRows } from "./covered_rows.ts";
import { classifyFailure, type Failure } from "./failure_case.ts";
import { findImpact } from "./impact.ts";
import { contentOf } from "./response.ts";

export interface Verdict {
  /** `setup` if the step only prepares the test. */
  readonly outcome: Outcome;
  readonly class?: FailureClass;
  /** Flags whose impact was observed. */
  readonly harm: readonly string[];
  /** Ids of the covered rows that failed. */
  readonly failed: readonly string[];
}

/** Ways for an exchange to break that say nothing about the rule. One that hung or was closed is an answer of its kind. */
const NO_ANSWER: ReadonlySet<unknown> = new Set(["refused", "garbled"]);

const SETUP: Verdict = { outcome: "setup", harm: [], failed: [] };

/**
 * Judges a failed step.
 * @param covers ids of the rows that the step may fail; by default all of the vector, empty for a step that only prepares
 */
export function judgeStep(
  step: ExpectationFailed,
  rows: readonly Requirement[],
  covers: readonly string[] | undefined,
  flags: readonly string[],
): Verdict {
  const { mismatches, view } = step;
  if (covers?.length === 0) return SETUP;
  // What the covered rows are about was not seen: there was no connection, or no HTTP.
  if (mismatches.length === 0 && NO_ANSWER.has(view?.["broken"])) return SETUP;
  const covered = sortRows(covers ? rows.filter(({ id }) => covers.includes(id)) : rows, view);
  const failure = classifyFailure(step, covered);
  const failed = [...new Set(findFailedRows(step, covered, failure))];
  const harm = findImpact(step, failure, flags);
  if (failed.length === 0) return { outcome: "observe", class: "other-refusal", harm, failed: [] };
  const strength = getStrongest(failed);
  const isOtherError = failure.kind === "other-refusal" && failure.violations.length === 0 &&
    mismatches.some(({ path }) => ERROR_PLACE.test(path));
  return {
    outcome: toFailureOutcome(strength),
    class: isOtherError ? "other-refusal" : strength === "MUST" ? "broken" : "advice",
    harm,
    failed: failed.map(({ id }) => id),
  };
}

/** The rows that fail, by the kind of the failure. */
function findFailedRows(
  { mismatches, view }: ExpectationFailed,
  { form, rules, counting, findGoverning }: CoveredRows,
  { kind, isUnanswered }: Failure,
): readonly Requirement[] {
  const content = contentOf(view);
  switch (kind) {
    case "other-refusal": {
      // What an error status of HTTP has for a body need not be a message.
      const isFree = Number(view!["status"]) >= 400 && content !== "message";
      return findBlamed(
        mismatches,
        (each) => findGoverning(each).filter((row) => !isFree || !isAboutProtocol(row)),
        view!,
      );
    }
    case "other-count": {
      const protocol = isUnanswered && content === "other" ? form.filter(isAboutProtocol) : [];
      return [counting, protocol, rules].find((each) => each.length > 0)!;
    }
    case "other-outcome":
      return rules;
    case "other-values":
      return mismatches.flatMap((mismatch) => {
        const own = findGoverning(mismatch);
        return own.length > 0 ? own : rules;
      });
  }
}

/** Places that tell one error from another: the status, an `error`, or a whole member of the view. */
const ERROR_PLACE = /^(\w*|messages\.\d+)$|(^|\.)error(\.code)?$/;
