/**
 * `GET /oauth/authorize`, the authorization endpoint (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.1): identifies
 * the client and its redirect URI, then the user, checks the request, and issues a code or asks for consent.
 *
 * @module
 */
import { pathOf, queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findClient } from "../clients/client.ts";
import { findRedirectUri } from "../clients/redirect_uri.ts";
import { askConsent } from "../consent/consent.ts";
import { findConsent, maySkipConsent } from "../consent/consent_memory.ts";
import { OAuthError, plain } from "../error.ts";
import { issueCode } from "../grants/code.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { type Parameters, parseParameters } from "../parameters.ts";
import type { AuthorizationTransaction } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import { findSession, type SignedIn } from "../users/session.ts";
import { limitToRole, refuseRole } from "../users/user_role.ts";
import {
  checkAuthorizationRequest,
  parseAuthenticationRequirements,
  requireSignature,
} from "./authorization_request.ts";
import { respondToClient } from "./authorize_response.ts";
import { showErrorPage } from "./error_page.ts";
import { chooseErrorResponse } from "../response_modes/response_mode.ts";
import { loginHintOf, redirectToLogin, redirectToSecondFactor } from "./login_redirect.ts";
import { findNeededLogin, toRequestedClass } from "./needed_login.ts";
import {
  getStoredRequest,
  isPushedUri,
  mustPush,
  storeRequest,
  toQuery,
  toReturnQuery,
} from "./pushed_request.ts";

const readRequestObject = loadOnDemand(async () => (await import("./request_object.ts")).readRequestObject);

const readAuthenticationRequest = loadOnDemand(async () =>
  (await import("../openid/authentication_request.ts")).readAuthenticationRequest
);

const sendDueNotices = loadOnDemand(async () =>
  (await import("../openid/backchannel_logout.ts")).sendDueNotices
);

/** An authorization request whose redirect URI is registered for its client. The other parameters are not checked. */
interface IdentifiedRequest {
  readonly client: Client;
  readonly redirect_uri: string;
  /** From the query, or of the pushed request. */
  readonly parameters: Parameters;
  readonly dpop_jkt?: string | undefined;
  /** Milliseconds since the epoch: the user must have signed in at this time or later. */
  readonly min_auth_time?: number | undefined;
  /** The digest of the `request_uri` that the client sent. */
  readonly pushed?: string | undefined;
  /** The parameters are those of a request object that the client signed (RFC 9101). */
  readonly signed?: true | undefined;
}

/**
 * 302 to the login page or to the client, or 200 with the consent page.
 * @throws {OAuthError} to be shown as a page, while no redirect URI is known to belong to the client
 */
export async function authorize(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const identified = await identifyRequest(as, request, context);
  // RFC 9700 §4.11.2: the user signs in before the first redirect to the client, so that this server is no open
  // redirector.
  const signedIn = await findSession(as, request);
  if (!signedIn && !mayRespondWithoutUser(as, identified)) {
    return redirectToLogin(
      as,
      pathOf(request.url),
      await toReturnQuery(as, request, context, identified),
      loginHintOf(as, identified.parameters),
    );
  }

  // From here on errors go to the client (RFC 6749 §4.1.2.1).
  try {
    return await answer(as, request, context, identified, signedIn);
  } catch (error) {
    if (!(error instanceof OAuthError)) throw error;
    const { client, parameters, redirect_uri } = identified;
    const state = parameters.get("state");
    const to = {
      client_id: client.id,
      redirect_uri,
      ...(state !== undefined && { state }),
      ...chooseErrorResponse(as, client, parameters, redirect_uri),
    };
    return await respondToClient(as, request, to, {
      error: error.code,
      error_description: plain(error.message, 1000),
    });
  }
}

/** @throws {OAuthError} when the client or the redirect URI is missing, repeated, unknown or not registered */
async function identifyRequest(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<IdentifiedRequest> {
  const query = parseParameters(queryOf(request.url));
  refuseRepeatedParameter(query, "client_id");
  const client_id = query.get("client_id");
  if (!client_id) throw invalidRequest("client_id is missing");
  const client = await findClient(as, client_id, context);
  if (!client) throw invalidRequest("client_id is unknown: this client is not registered");
  refuseRepeatedParameter(query, "request_uri");
  const request_uri = query.get("request_uri");
  const read = await readSource(as, client, query, request_uri, context);
  const { parameters } = read;
  refuseRepeatedParameter(parameters, "redirect_uri");
  const requested = parameters.get("redirect_uri");
  const redirect_uri = findRedirectUri(client, requested);
  if (redirect_uri === undefined) {
    throw invalidRequest(
      requested === undefined
        ? "redirect_uri is missing"
        : `redirect_uri is not registered for this client: "${toVisibleText(requested)}"`,
    );
  }
  return { ...read, client, redirect_uri };
}

/** The parameters of the pushed request, of the request object, or of the query. @throws {OAuthError} */
async function readSource(
  as: AuthorizationServer,
  client: Client,
  query: Parameters,
  request_uri: string | undefined,
  context: RequestContext,
): Promise<Omit<IdentifiedRequest, "client" | "redirect_uri">> {
  if (as.requestObjects === "off") {
    if (request_uri !== undefined && !isPushedUri(request_uri)) {
      const problem = "request_uri must be one that this server issued: push the request first (RFC 9126)";
      throw new OAuthError("request_uri_not_supported", problem);
    }
  } else if (query.has("request") || request_uri !== undefined && !isPushedUri(request_uri)) {
    return { parameters: await readRequestObject(as, client, query, context), signed: true };
  }
  return request_uri === undefined ? { parameters: query } : await getStoredRequest(as, client, request_uri);
}

/** RFC 6749 §3.1 */
function refuseRepeatedParameter({ repeated }: Parameters, name: string): void {
  if (repeated.includes(name)) throw invalidRequest(`${name} is included more than once`);
}

/** Printable ASCII of limited length. The page escapes it. */
function toVisibleText(text: string): string {
  const visible = text.replace(/[^\x20-\x7e]/g, "\ufffd");
  return visible.length > 500 ? visible.slice(0, 499) + "…" : visible;
}

function invalidRequest(problem: string): OAuthError {
  return new OAuthError("invalid_request", problem);
}

/**
 * `prompt=none` forbids the login page. An OpenID Connect request gets an error response instead (Core §3.1.2.6); without
 * OpenID Connect only one of a client that the operator registered (RFC 9700 §4.11.2).
 */
function mayRespondWithoutUser(as: AuthorizationServer, { client, parameters }: IdentifiedRequest): boolean {
  if (parameters.get("prompt") !== "none") return false;
  return client.source === "operator" || as.openid !== undefined && hasOpenId(parameters.get("scope"));
}

function hasOpenId(scope = ""): boolean {
  return scope.split(" ").includes("openid");
}

/** @throws {OAuthError} to be sent to the client */
async function answer(
  as: AuthorizationServer,
  browser: Request,
  context: RequestContext,
  identified: IdentifiedRequest,
  signedIn: SignedIn | undefined,
): Promise<Response> {
  const { client, redirect_uri, parameters, dpop_jkt, min_auth_time, pushed, signed } = identified;
  const checked = checkAuthorizationRequest(as, client, parameters, redirect_uri);
  if (pushed === undefined && mustPush(as, client)) {
    throw invalidRequest(
      "This client must use pushed authorization requests: send the request to the PAR endpoint first (RFC 9126)",
    );
  }
  requireSignature(as, client, signed === true);
  const given = parseAuthenticationRequirements(parameters);
  const authentication = as.openid && hasOpenId(checked.scope)
    ? await readAuthenticationRequest(as, client, parameters, given)
    : undefined;
  if (authentication) await sendDueNotices(as, context);
  const requirements = authentication?.requirements ?? given;
  const isPromptNone = requirements.prompt.has("none");
  if (!signedIn) throw new OAuthError("login_required", "No user is signed in");
  const { origin, user } = signedIn;
  const scope = limitToRole(as, user, checked.scope);
  const request = {
    ...checked,
    scope,
    ...(dpop_jkt !== undefined && { dpop_jkt }),
    ...(authentication && { openid: authentication.toOpenId(user, scope) }),
  };
  const consent = await findConsent(as, client, { user: user.id, request });
  // Anyone can register a client. It finds out nothing about a user who allowed it nothing: neither who it is nor their role.
  const isStranger = client.source !== "operator" && consent.scopes.size === 0;
  if (isPromptNone && isStranger) throw consentRequired();
  const isOtherUser = authentication !== undefined && !await authentication.isExpectedUser(user.id);
  const needed = await findNeededLogin(as, requirements, signedIn, min_auth_time, isOtherUser);
  if (needed !== "none") {
    if (isPromptNone) throw new OAuthError("login_required", "The user must sign in again");
    if (needed === "login") return await redirectToNewLogin(as, identified);
    const query = await toReturnQuery(as, browser, context, identified);
    return redirectToSecondFactor(as, pathOf(browser.url), query);
  }
  if (isPromptNone && authentication?.hintsAtOther(user)) {
    throw new OAuthError("account_selection_required", "Another user is signed in than login_hint names");
  }
  if (scope === "") {
    if (isStranger) return await showErrorPage(as, browser, refuseRole());
    throw refuseRole();
  }
  const transaction: AuthorizationTransaction = {
    kind: "authorization",
    session: origin,
    user: user.id,
    authentication: toRequestedClass(signedIn, requirements),
    request,
    ...(pushed !== undefined && { pushed }),
  };
  if (
    consent.coversRequest && !requirements.prompt.has("consent") &&
    maySkipConsent(as, client, request, browser)
  ) return await issueCode(as, client, transaction, signedIn, browser);
  if (isPromptNone) {
    throw consent.coversRequest
      // The user allowed it before, and must see the page all the same: `maySkipConsent`.
      ? new OAuthError("interaction_required", "The user must confirm that this client sent the request")
      : consentRequired();
  }
  return await askConsent(
    as,
    client,
    user,
    transaction,
    consent.scopes,
    browser,
    parameters.get("ui_locales"),
  );
}

function consentRequired(): OAuthError {
  return new OAuthError("consent_required", "The user has not given consent to this request");
}

/**
 * Stores the request with the present time as `min_auth_time`. The user comes back with a `request_uri`, in which the
 * requirement cannot be edited.
 */
async function redirectToNewLogin(
  as: AuthorizationServer,
  { client, parameters, pushed, dpop_jkt, signed }: IdentifiedRequest,
): Promise<Response> {
  const request_uri = await storeRequest(as, {
    client_id: client.id,
    parameters: parameters.text,
    min_auth_time: as.now(),
    ...(pushed !== undefined && { pushed }),
    ...(dpop_jkt !== undefined && { dpop_jkt }),
    ...(signed && { signed }),
  });
  const query = toQuery(client, request_uri);
  return redirectToLogin(as, as.base + "/oauth/authorize", query, loginHintOf(as, parameters));
}
