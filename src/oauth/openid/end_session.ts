/**
 * `/oauth/logout`, the end session endpoint: a client asks to sign the user out
 * (https://openid.net/specs/openid-connect-rpinitiated-1_0.html).
 *
 * @module
 */
import { parseForm, readFormText } from "../../http/body/form.ts";
import { describeForeignForm, isSameOrigin } from "../../http/network/origin.ts";
import { type Fields, NO_STORE, respond } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findAvailableClient, findClient } from "../clients/client.ts";
import { describeApplication } from "../consent/access_description.ts";
import { signOut } from "../endpoints/logout.ts";
import { OAuthError } from "../error.ts";
import { showPage } from "../pages/page.ts";
import { type Parameters, parseParameters, refuseRepeated } from "../parameters.ts";
import type { Client } from "../records/client_record.ts";
import { findSession, type SignedIn } from "../users/session.ts";
import { sendDueNotices } from "./backchannel_logout.ts";
import { readIdToken } from "./id_token.ts";
import { sessionIdOf, subjectOf } from "./subject.ts";

const MAX_FORM_BYTES = 16 * 1024;
const MAX_QUERY_CHARACTERS = 8000;
/** The parameters that the confirmation form sends back. */
const KEPT = ["id_token_hint", "client_id", "post_logout_redirect_uri", "state"];

interface LogoutRequest {
  readonly parameters: Parameters;
  readonly client: Client | undefined;
  /** The claims of a valid `id_token_hint`. */
  readonly hint: Awaited<ReturnType<typeof readIdToken>>;
  /** Registered for the client. */
  readonly redirect_uri: string | undefined;
}

/**
 * `GET /oauth/logout`: 303 to the client when the hint names the present session or none is left, else 200 with the
 * question.
 * @throws {OAuthError} to be shown as a page
 */
export async function endSessionForClient(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  await sendDueNotices(as, context);
  const asked = await readLogoutRequest(as, parseParameters(queryOf(request.url)), context);
  const signedIn = await findSession(as, request);
  const isCertain = asked.hint !== undefined && (!signedIn || await isOfSession(as, asked, signedIn));
  if (!isCertain) return await askUser(as, request, asked, signedIn);
  return await complete(as, request, asked, await signOut(as, request, context));
}

/**
 * `POST /oauth/logout`: a request of a client goes on by GET, because browsers send no cookie with a form of another site;
 * the user's answer ends the session.
 * @throws {OAuthError} to be shown as a page
 */
export async function answerEndSession(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const form = await readFormText(request, MAX_FORM_BYTES);
  if (!parseForm(form).values.has("decision")) {
    const query = new URLSearchParams(form).toString();
    if (query.length > MAX_QUERY_CHARACTERS) throw invalidRequest("The logout request is too long");
    return respond(303, null, [["location", `${as.base}/oauth/logout?${query}`], NO_STORE]);
  }
  if (!isSameOrigin(request, as.origin)) throw invalidRequest(describeForeignForm(request, as.origin));
  const asked = await readLogoutRequest(as, parseParameters(form), context);
  return await complete(as, request, asked, await signOut(as, request, context));
}

/** @throws {OAuthError} for a client that is not the audience of the hint, and for a URI that is not registered */
async function readLogoutRequest(
  as: AuthorizationServer,
  parameters: Parameters,
  context: RequestContext,
): Promise<LogoutRequest> {
  refuseRepeated(parameters);
  const token = parameters.get("id_token_hint");
  // §2: an expired one counts. Any other that is not valid counts as none, and the user is asked.
  const hint = token === undefined ? undefined : await readIdToken(as, token);
  const client_id = parameters.get("client_id") ?? hint?.aud;
  if (hint && client_id !== hint.aud) throw invalidRequest("client_id is not the audience of id_token_hint");
  const redirect_uri = parameters.get("post_logout_redirect_uri");
  // The user can sign out although the document of a client cannot be fetched, but is sent nowhere then.
  const find = redirect_uri === undefined ? findAvailableClient : findClient;
  const client = client_id === undefined ? undefined : await find(as, client_id, context);
  if (redirect_uri !== undefined && !client?.post_logout_redirect_uris?.includes(redirect_uri)) {
    throw invalidRequest("post_logout_redirect_uri is not registered for this client");
  }
  // §4: after an error in the request the user is not sent to the client.
  return { parameters, client, hint, redirect_uri: token !== undefined && !hint ? undefined : redirect_uri };
}

/** Whether the ID token was issued in this session, to this user. */
async function isOfSession(
  as: AuthorizationServer,
  { hint, client }: LogoutRequest,
  { origin, user }: SignedIn,
): Promise<boolean> {
  return hint !== undefined && client !== undefined && hint.sid === sessionIdOf(origin, client.id) &&
    hint.sub === await subjectOf(as, client, user.id);
}

/** §2: without a hint that names the session, another site could sign the user out. */
async function askUser(
  as: AuthorizationServer,
  request: Request,
  { client, parameters }: LogoutRequest,
  signedIn: SignedIn | undefined,
): Promise<Response> {
  const kept = KEPT.flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [[name, value] as const];
  });
  return await showPage(as, request, {
    name: "sign_out",
    action: as.base + "/oauth/logout",
    hidden: Object.fromEntries(kept),
    ...(client && { application: describeApplication(client) }),
    ...(signedIn && { user: signedIn.user.name }),
  }, { ui_locales: parameters.get("ui_locales") });
}

async function complete(
  as: AuthorizationServer,
  request: Request,
  { redirect_uri, parameters }: LogoutRequest,
  cookies: Fields,
): Promise<Response> {
  if (redirect_uri === undefined) {
    const view = { name: "signed_out", signIn: as.base + "/login" } as const;
    return await showPage(as, request, view, { formAction: "'none'", fields: cookies });
  }
  const state = parameters.get("state");
  const separator = redirect_uri.includes("?") ? "&" : "?";
  const location = state === undefined
    ? redirect_uri
    : `${redirect_uri}${separator}state=${encodeURIComponent(state)}`;
  return respond(303, null, [["location", location], ...cookies, NO_STORE, [
    "referrer-policy",
    "no-referrer",
  ]]);
}

function invalidRequest(problem: string): OAuthError {
  return new OAuthError("invalid_request", problem);
}
