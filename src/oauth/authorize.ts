/**
 * `GET /oauth/authorize`, the authorization request (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1): an
 * ordered list of checks, then the consent page.
 *
 * @module
 */
import { parseForm } from "../http/form.ts";
import { respond } from "../http/response.ts";
import { pathOf, queryOf } from "../http/router.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { refuseOnPage, respondToClient } from "./authorize_response.ts";
import { findClient } from "./client.ts";
import { askConsent } from "./consent.ts";
import { OAuthError } from "./error.ts";
import { checkChallenge } from "./pkce.ts";
import { findRedirectUri } from "./redirect_uri.ts";
import { grantScope } from "./scope.ts";
import { findSession } from "./session.ts";

/** 302 to the login or the client, 200 with the consent page, or 400 with a page that redirects nowhere. */
export async function authorize(as: AuthorizationServer, request: Request): Promise<Response> {
  const { values: query, repeated } = parseForm(queryOf(request.url));
  const client_id = query.get("client_id");
  if (!client_id || repeated.includes("client_id")) return refuseOnPage("It must name its client_id, once.");
  const client = await findClient(as, client_id);
  if (!client) return refuseOnPage("Its client_id is not known here.");
  if (repeated.includes("redirect_uri")) return refuseOnPage("It names more than one redirect_uri.");
  const requested = query.get("redirect_uri") || undefined;
  const redirect_uri = findRedirectUri(client, requested);
  if (redirect_uri === undefined) {
    return refuseOnPage(
      requested === undefined
        ? "It must name its redirect_uri."
        : "Its redirect_uri is not registered for this client.",
    );
  }

  // RFC 9700 §4.11.2: the user signs in before anything is sent on, so that no stranger's link redirects
  // through this server unseen.
  const signedIn = await findSession(as, request);
  if (!signedIn) return sendToLogin(as, request);

  // From here on an error is the client's to know (RFC 6749 §4.1.2.1).
  const state = query.get("state");
  const to = { redirect_uri, state };
  try {
    if (repeated.length > 0) {
      throw new OAuthError(
        "invalid_request",
        `These parameters came more than once: ${plain(repeated.join(" "))}`,
      );
    }
    checkResponseType(query.get("response_type"));
    if (!client.grant_types.includes("authorization_code")) {
      throw new OAuthError("unauthorized_client", "This client may not use the authorization code grant");
    }
    const code_challenge = checkChallenge(
      client,
      query.get("code_challenge"),
      query.get("code_challenge_method"),
    );
    const scope = grantScope(as, client, query.get("scope"));
    return await askConsent(as, client, signedIn, {
      session: signedIn.session,
      user: signedIn.user.id,
      client_id,
      redirect_uri,
      redirect_uri_sent: requested !== undefined,
      scope,
      ...(state !== undefined && { state }),
      ...(code_challenge !== undefined && { code_challenge }),
    });
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    return respondToClient(as, to, { error: error.code, error_description: error.message });
  }
}

function checkResponseType(response_type: string | undefined): void {
  if (!response_type) throw new OAuthError("invalid_request", "response_type must be code");
  if (response_type !== "code") {
    // The implicit grant included: RFC 9700 §2.1.2 tells why tokens do not travel in URLs.
    throw new OAuthError("unsupported_response_type", "response_type must be code");
  }
}

/** The way to the login and back; the body says why, for a caller that follows no redirects. */
function sendToLogin(as: AuthorizationServer, request: Request): Response {
  const query = queryOf(request.url);
  const here = pathOf(request.url) + (query === "" ? "" : "?" + query);
  const body = {
    error: "access_denied",
    error_description: "No user is signed in: sign in at the address of the Location field",
  };
  return respond(302, JSON.stringify(body), [
    ["location", `${as.base}/login?redirect=${encodeURIComponent(here)}`],
    ["content-type", "application/json"],
    ["cache-control", "no-store"],
  ]);
}

function plain(text: string): string {
  return text.replace(/[^\x20-\x21\x23-\x5b\x5d-\x7e]/g, "?").slice(0, 200);
}
