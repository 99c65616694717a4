/**
 * The fields that the form of a transaction sends: the decision of the user.
 *
 * @module
 */
import { OAuthError } from "../error.ts";

export type Decision = "approve" | "deny";

/** The value of `decision`. @throws {OAuthError} invalid_request for another value */
export function parseDecision(form: ReadonlyMap<string, string>): Decision {
  const decision = form.get("decision");
  if (decision === "approve" || decision === "deny") return decision;
  throw new OAuthError("invalid_request", "decision must be approve or deny");
}

/** @param repeated names of form fields that were sent more than once. @throws {OAuthError} invalid_request */
export function refuseRepeatedFields(repeated: readonly string[]): void {
  if (repeated.length > 0) {
    throw new OAuthError("invalid_request", "A form field was sent more than once");
  }
}
