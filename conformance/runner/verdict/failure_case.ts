/**
 * What kind of failure a step is: the cases of `FORMAT.md` section 7, and whether a prohibition is violated.
 *
 * @module
 */
import type { ExpectationFailed, Mismatch } from "../outcome.ts";
import { NO_VALUE } from "../report/describe.ts";
import type { Requirement } from "../vector/vector_file.ts";
import { ABSENCE, isAbsence } from "./about.ts";
import type { CoveredRows } from "./covered_rows.ts";
import { expectsRefusal, isProhibition } from "./expectation.ts";
import { isOtherCount, isOtherForm, isWithoutMessages } from "./message_count.ts";
import { isRefusal } from "./response.ts";

export interface Failure {
  readonly asksRefusal: boolean;
  readonly isRefused: boolean;
  /** The exchange failed. */
  readonly isBroken: boolean;
  /**
   * `other-refusal`: the server refused as expected, with another error (case 1). `other-count`: another number of messages
   * came (2). `other-outcome`: a success in place of a refusal or the other way round, no exchange, or other counts (3).
   * `other-values`: places differ (4).
   */
  readonly kind: "other-refusal" | "other-count" | "other-outcome" | "other-values";
  /** Messages are expected, and nothing came that is JSON. */
  readonly isUnanswered: boolean;
  readonly violations: readonly Mismatch[];
  /** Whether a prohibition is violated that is a rule, not one about form. */
  readonly isRuleViolated: boolean;
}

export function classifyFailure(
  { mismatches, expected, view }: ExpectationFailed,
  { counting, findGoverning }: CoveredRows,
): Failure {
  const asksRefusal = expectsRefusal(expected);
  const isRefused = view !== undefined && isRefusal(view);
  const isBroken = view?.["broken"] !== undefined;
  const isUnanswered = isWithoutMessages(expected, view);
  const otherForms = mismatches.filter((mismatch) => isOtherForm(mismatch, view));
  const isMiscounted = isOtherCount(mismatches, otherForms) ||
    isUnanswered && (counting.length > 0 || !isRefused);
  const violations = mismatches.filter(isViolation);
  const isRuleViolated = violations.some((mismatch) => !isAboutViolation(mismatch, findGoverning(mismatch)));
  const isOtherRefusal = asksRefusal && isRefused && !isRuleViolated && !isMiscounted &&
    otherForms.length === 0 && mismatches.length > 0;
  const kind = isOtherRefusal
    ? "other-refusal"
    : isMiscounted
    ? "other-count"
    : asksRefusal || isRefused || isBroken || mismatches.length === 0
    ? "other-outcome"
    : "other-values";
  return { asksRefusal, isRefused, isBroken, kind, isUnanswered, violations, isRuleViolated };
}

/** Whether a value is present that must not be: what a prohibition is about was seen. */
export function isViolation({ pattern, actual }: Mismatch): boolean {
  return isProhibition(pattern) && actual !== NO_VALUE;
}

/** Whether a violation is one of form: a row governs it, and if the value must be absent, says so. */
function isAboutViolation({ pattern }: Mismatch, governing: readonly Requirement[]): boolean {
  return isAbsence(pattern)
    ? governing.some(({ about }) => about!.some(({ value }) => value === ABSENCE))
    : governing.length > 0;
}
