/**
 * The impact that a failed step shows: for which flags it was observed (`FORMAT.md` sections 7 and 10).
 *
 * @module
 */
import type { ExpectationFailed } from "../outcome.ts";
import { isOfRedirect } from "./blame.ts";
import { namesProhibition } from "./expectation.ts";
import type { Failure } from "./failure_case.ts";
import { leadsElsewhere } from "./response.ts";

export function findImpact(
  { mismatches, expected, view, isExcess }: ExpectationFailed,
  { asksRefusal, isRefused, isBroken, kind, violations, isRuleViolated }: Failure,
  flags: readonly string[],
): readonly string[] {
  const isAccepted = asksRefusal && !isRefused && !isBroken && kind !== "other-count";
  // An error in place of a success is no value that came out.
  const isObserved = isRuleViolated && (asksRefusal || !isRefused);
  // A redirect alone shows that the browser was sent, and nothing else.
  const isHarmed = isObserved && violations.some((each) => !isOfRedirect(each)) || isExcess ||
    isAccepted && !namesProhibition(expected) && !(Number(view?.["status"]) >= 300);
  const isRedirected = leadsElsewhere(view) &&
    (kind === "other-refusal" && mismatches.some(isOfRedirect) || isObserved || isAccepted);
  return flags.filter((flag) => {
    if (flag === "interop") return !asksRefusal && (isRefused || isBroken);
    if (flag === "exhaustion") return isBroken;
    if (flag === "leak") return isObserved;
    if (flag === "open-redirect") return isRedirected;
    return isHarmed;
  });
}
