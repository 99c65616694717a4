/**
 * The form with which the user decides on a transaction: its markup, and the fields that it sends.
 *
 * @module
 */
import { html, type Markup } from "../../http/page.ts";
import { OAuthError } from "../error.ts";

export type Decision = "approve" | "deny";

/** A form that posts `transaction` and `decision` to the path `action`. */
export function decisionForm(action: string, transactionToken: string): Markup {
  return html`
    <form method="post" action="${action}">
      <input type="hidden" name="transaction" value="${transactionToken}">
      <div class="row">
        <button name="decision" value="approve">Allow</button>
        <button name="decision" value="deny" class="plain">Deny</button>
      </div>
    </form>
  `;
}

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
