/**
 * `GET /oauth/authorize`, the authorization request (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1): who asks, where
 * the answer goes, who is signed in, what is asked, and then the user's answer, given before or now.
 *
 * @module
 */
import { respond } from "../../http/response.ts";
import { pathOf, queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import { checkAuthorizationRequest, type Demands, readDemands } from "./authorization_request.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { respondToClient } from "./authorize_response.ts";
import { findClient } from "../clients/client.ts";
import { issueCode } from "../grants/code.ts";
import { askConsent } from "../consent/consent.ts";
import { findConsent, mayAnswerSilently } from "../consent/consent_memory.ts";
import { OAuthError, plain } from "../error.ts";
import { type Parameters, parseParameters } from "../parameters.ts";
import { findRequest, keepRequest } from "./pushed_request.ts";
import type { AuthorizationTransaction, Client } from "../records.ts";
import { findRedirectUri } from "../clients/redirect_uri.ts";
import { findSession, type SignedIn } from "../users/session.ts";
import { requireRole } from "../users/user_role.ts";

/** A request whose client and redirect URI are known to belong together. */
interface Asked {
  readonly client: Client;
  readonly redirect_uri: string;
  /** What came in the browser, or was pushed before. */
  readonly parameters: Parameters;
  readonly dpop_jkt?: string | undefined;
  readonly login_after?: number | undefined;
  readonly pushed?: string | undefined;
}

/** 302 to the login or the client, 200 with the consent page, or 400 with a page that redirects nowhere. */
export async function authorize(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  // An error up to here is shown to the user on a page: no redirect URI is known to belong to the client.
  const asked = await readRequest(as, request, context);
  // RFC 9700 §4.11.2: the user signs in before anything is sent on, so that no stranger's link redirects
  // through this server unseen.
  const signedIn = await findSession(as, request);
  if (!signedIn && !mayAnswerUnseen(asked)) return sendToLogin(as, pathOf(request.url), queryOf(request.url));

  // From here on an error is the client's to know (RFC 6749 §4.1.2.1).
  try {
    return await answer(as, request, asked, signedIn);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const to = { redirect_uri: asked.redirect_uri, state: asked.parameters.get("state") };
    return respondToClient(as, to, { error: error.code, error_description: plain(error.message, 1000) });
  }
}

/** @throws {OAuthError} for the user to see: there is nobody else who could be trusted with it */
async function readRequest(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Asked> {
  const query = parseParameters(queryOf(request.url));
  const client_id = query.get("client_id");
  if (query.repeated.includes("client_id")) throw refusal("client_id is included more than once");
  if (!client_id) throw refusal("client_id is missing");
  const client = await findClient(as, client_id, context);
  if (!client) throw refusal("client_id is unknown: this client is not registered");
  // RFC 6749 §3.1: of two only one would be looked at, and who reads the address may take the other.
  if (query.repeated.includes("request_uri")) throw refusal("request_uri is included more than once");
  const request_uri = query.get("request_uri");
  const kept = request_uri === undefined ? undefined : await findRequest(as, client, request_uri);
  const parameters = kept?.parameters ?? query;
  if (parameters.repeated.includes("redirect_uri")) throw refusal("redirect_uri is included more than once");
  const requested = parameters.get("redirect_uri");
  const redirect_uri = findRedirectUri(client, requested);
  if (redirect_uri === undefined) {
    throw refusal(
      requested === undefined
        ? "redirect_uri is missing"
        : `redirect_uri is not registered for this client: "${visible(requested)}"`,
    );
  }
  return { ...kept, client, redirect_uri, parameters };
}

/** What came, fit for a page, which escapes it: nothing hidden, and not without end. */
function visible(text: string): string {
  const shown = text.replace(/[^\x20-\x7e]/g, "\ufffd");
  return shown.length > 500 ? shown.slice(0, 499) + "…" : shown;
}

function refusal(problem: string): OAuthError {
  return new OAuthError("invalid_request", problem);
}

/** `prompt=none` asks for an answer without the user; only clients of the operator's own are sent one. */
function mayAnswerUnseen({ client, parameters }: Asked): boolean {
  return parameters.get("prompt") === "none" && client.source === "operator";
}

/** @throws {OAuthError} for the client */
async function answer(
  as: AuthorizationServer,
  browser: Request,
  asked: Asked,
  signedIn: SignedIn | undefined,
): Promise<Response> {
  const { client, redirect_uri, parameters, pushed } = asked;
  const dpop_jkt = asked.dpop_jkt;
  const asks = checkAuthorizationRequest(as, client, parameters, redirect_uri);
  if (pushed === undefined && (as.requirePushedRequests || client.require_pushed_authorization_requests)) {
    throw new OAuthError(
      "invalid_request",
      "This client must use pushed authorization requests: send the request to the PAR endpoint first (RFC 9126)",
    );
  }
  const demands = readDemands(parameters);
  const silent = demands.prompt.has("none");
  if (!signedIn) throw new OAuthError("login_required", "No user is signed in");
  if (needsLogin(as, demands, signedIn, asked.login_after)) {
    if (silent) throw new OAuthError("login_required", "The user must sign in again");
    return await sendToLoginAgain(as, asked);
  }
  const request = {
    ...asks,
    scope: requireRole(as, signedIn.user, asks.scope),
    ...(dpop_jkt !== undefined && { dpop_jkt }),
  };
  const transaction: AuthorizationTransaction = {
    kind: "authorization",
    session: signedIn.session,
    user: signedIn.user.id,
    authentication: signedIn.authentication,
    request,
    ...(pushed !== undefined && { pushed }),
  };
  const consent = await findConsent(as, client, transaction);
  const isOwn = { browser, pushed: asked.login_after === undefined && pushed !== undefined };
  if (
    consent.covers && !demands.prompt.has("consent") && mayAnswerSilently(as, client, request, isOwn)
  ) return await issueCode(as, client, transaction);
  if (silent) throw new OAuthError("consent_required", "The user has not given consent to this request");
  return await askConsent(as, client, signedIn.user, transaction, consent.scopes);
}

/** @throws {OAuthError} unmet_authentication_requirements when a login just now did not help (RFC 9470 §5) */
function needsLogin(
  as: AuthorizationServer,
  { prompt, max_age, acr_values }: Demands,
  { since, authentication }: SignedIn,
  login_after: number | undefined,
): boolean {
  const justNow = login_after !== undefined && since >= login_after;
  const isKnown = acr_values === undefined || acr_values.includes(authentication.acr);
  if (justNow) {
    if (isKnown) return false;
    throw new OAuthError(
      "unmet_authentication_requirements",
      "The user did not sign in with any of the requested acr_values",
    );
  }
  const isOld = max_age !== undefined && since + max_age * 1000 < as.now();
  return prompt.has("login") || isOld || !isKnown || login_after !== undefined;
}

/** The request waits under a name that only a login after this moment fulfils: no editing of the address helps. */
async function sendToLoginAgain(as: AuthorizationServer, asked: Asked): Promise<Response> {
  const request_uri = await keepRequest(as, {
    client_id: asked.client.id,
    parameters: asked.parameters.text,
    login_after: as.now(),
    ...(asked.pushed !== undefined && { pushed: asked.pushed }),
    ...(asked.dpop_jkt !== undefined && { dpop_jkt: asked.dpop_jkt }),
  });
  const query = new URLSearchParams({ client_id: asked.client.id, request_uri });
  return sendToLogin(as, as.base + "/oauth/authorize", query.toString());
}

/** The way to the login and back; the body says why, for a caller that follows no redirects. */
export function sendToLogin(as: AuthorizationServer, path: string, query: string): Response {
  const here = path + (query === "" ? "" : "?" + query);
  const body = {
    error: "access_denied",
    error_description: "No user is signed in: sign in at the URL in the Location header",
  };
  return respond(302, JSON.stringify(body), [
    ["location", `${as.base}/login?redirect=${encodeURIComponent(here)}`],
    ["content-type", "application/json"],
    ["cache-control", "no-store"],
  ]);
}
