/**
 * The page that asks the user to consent to an authorization request
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1).
 *
 * @module
 */
import { html, respondPage } from "../../http/page.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { AuthorizationRequest, Client, Profile } from "../records.ts";
import {
  describeAccess,
  describeDestination,
  describeDuration,
  describeTrust,
  displayName,
} from "./access_description.ts";
import { decisionForm } from "./decision_form.ts";

export interface ConsentQuestion {
  readonly client: Client;
  readonly user: Profile;
  readonly request: AuthorizationRequest;
  /** The scopes that the user allowed this client before. */
  readonly allowed: ReadonlySet<string>;
  readonly transactionToken: string;
}

/** 200 with the form to allow or deny the request. */
export function consentPage(
  as: AuthorizationServer,
  { client, user, request, allowed, transactionToken }: ConsentQuestion,
): Response {
  return respondPage({
    title: "Allow access?",
    body: html`
      <h1>${displayName(client)} asks for access</h1>
      <p>You are signed in as <strong>${user.name}</strong>. If you allow access, this application can:</p>
      ${describeAccess(as, request, allowed)}
      ${describeDestination(request.redirect_uri)}
      ${describeTrust(client)}
      ${describeDuration(as, client)}
      ${decisionForm(as.base + "/oauth/authorize", transactionToken)}
    `,
  });
}
