/**
 * `GET /login/:provider` sends the browser to an identity provider, `GET /login/:provider/callback` takes its answer and
 * starts a session.
 *
 * @module
 */
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import { NO_STORE, respond } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { refuseRedirect } from "../endpoints/login.ts";
import { parseRedirect } from "../endpoints/login_redirect.ts";
import { waitsForNewLogin } from "../endpoints/pushed_request.ts";
import { OAuthError } from "../error.ts";
import { endLinkCookie, readLinkCookie } from "../mail/link_token.ts";
import type { SignInFailure } from "../pages/basic_views.ts";
import { refuse, showPage } from "../pages/page.ts";
import { type Parameters, parseParameters } from "../parameters.ts";
import type { Profile } from "../records/user_record.ts";
import { INVITATION_LINK } from "../sign_up/invitation.ts";
import { NotInvitedError, permitNewIdentity } from "../sign_up/new_identity.ts";
import { completeLogin } from "../users/complete_login.ts";
import { isReauthentication } from "../users/recent_login.ts";
import type { SignedIn } from "../users/session.ts";
import { SessionEndedError } from "../users/session.ts";
import { findLinkingSession, finishLink, keepTokens } from "./link_provider.ts";
import { findLinkedUser } from "./linked_account.ts";
import {
  beginPending,
  endPending,
  findPending,
  MAX_REDIRECT_CHARACTERS,
  type PendingSignIn,
} from "./pending_sign_in.ts";
import {
  type Identity,
  isAdmitted,
  roleOf,
  scopesOf,
  type SignInAttempt,
  SignInError,
  type SignInProvider,
} from "./provider.ts";
import { contextOf } from "./provider_directory.ts";

/** 302 to the provider; 400 for an invalid redirect, 404 for an unknown provider, 502 when the provider does not answer. */
export async function beginSignIn(as: AuthorizationServer, request: Request, id: string): Promise<Response> {
  const provider = await as.providers.find(id);
  if (!provider) return await refuseUnknown(as, request);
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) return await refuseRedirect(as, request);
  if (redirect.length > MAX_REDIRECT_CHARACTERS) {
    throw new OAuthError(
      "invalid_request",
      "The authorization request is too long to sign in with a provider: push it (RFC 9126)",
    );
  }
  const request_uri = new URL(redirect, as.origin).searchParams.get("request_uri");
  const isNewLogin = isReauthentication(request) && provider.asksAgain !== false ||
    request_uri !== null && await waitsForNewLogin(as, request_uri);
  const invitation = readLinkCookie(as, request, INVITATION_LINK);
  return await sendToProvider(as, request, provider, {
    redirect,
    isNewLogin,
    ...(invitation && { invitation }),
  });
}

/**
 * Sends the user of this session to a provider, to link an identity there to the account. `undefined` for an unknown
 * provider.
 */
export async function beginLink(
  as: AuthorizationServer,
  request: Request,
  { session, user }: SignedIn,
  id: string,
): Promise<Response | undefined> {
  const provider = await as.providers.find(id);
  const link = { user: user.id, session };
  const redirect = `${as.base}/account/providers`;
  return provider && await sendToProvider(as, request, provider, { redirect, isNewLogin: false, link });
}

async function sendToProvider(
  as: AuthorizationServer,
  request: Request,
  provider: SignInProvider,
  given: Pick<PendingSignIn, "redirect" | "isNewLogin" | "link" | "invitation">,
): Promise<Response> {
  const { pending, fields } = await beginPending(as, request, { provider: provider.id, ...given });
  try {
    const location = await provider.start(contextOf(as), attemptOf(as, pending));
    return respond(request.method === "POST" ? 303 : 302, null, [
      ["location", location],
      ...fields,
      NO_STORE,
    ]);
  } catch (error) {
    return await showFailure(as, request, provider, given.redirect, toProblem(as, provider, error));
  }
}

/**
 * 302 to where the user came from, with a new session. A page with 400 when this browser began no such sign-in, 403 when
 * the user is not admitted or the answer is not believed, 502 when the provider does not answer.
 */
export async function finishSignIn(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  id: string,
): Promise<Response> {
  const provider = await as.providers.find(id);
  if (!provider) return await refuseUnknown(as, request);
  const parameters = readParameters(request);
  const state = parameters?.get("state");
  const pending = state === undefined ? undefined : await findPending(as, request, id, state);
  const linking = pending?.link && await findLinkingSession(as, request, pending.link);
  if (!parameters || !pending || pending.link && !linking) {
    return await showFailure(as, request, provider, "", { status: 400, reason: "expired" });
  }
  const end = [
    ...endPending(as, pending),
    ...pending.invitation ? [endLinkCookie(as, INVITATION_LINK)] : [],
  ];
  try {
    const identity = await identify(as, provider, pending, parameters);
    if (linking) return await finishLink(as, context, provider, identity, linking, end);
    const user = await findUserOf(as, context, provider, identity, pending.invitation);
    await keepTokens(as, provider, user.id, identity);
    // RFC 9470: a session at the provider is as old as the provider says, and of unknown age if it says nothing.
    const authenticated = pending.isNewLogin ? as.now() : Math.min((identity.authTime ?? 0) * 1000, as.now());
    const method = { provider: id, authenticated, began: pending.began };
    return await completeLogin(as, request, context, { ...user, acr: id }, method, pending.redirect, end);
  } catch (error) {
    return await showFailure(
      as,
      request,
      provider,
      pending.redirect,
      toProblem(as, provider, error, context),
      end,
    );
  }
}

/** RFC 6749 section 4.1.2.1: in place of status 500 and 503, which cannot be returned by a redirect. */
const OUTAGES: readonly string[] = ["server_error", "temporarily_unavailable"];

/** Who the callback is about, if the provider admits them. @throws {SignInError | PublicFetchError | Refusal} */
async function identify(
  as: AuthorizationServer,
  provider: SignInProvider,
  pending: PendingSignIn,
  parameters: Parameters,
): Promise<Identity> {
  const error = parameters.get("error");
  if (error === "access_denied") throw new Refusal(400, "cancelled", "The user cancelled the sign-in");
  if (error !== undefined) {
    const message = `The provider answered ${error.slice(0, 100)}`;
    throw OUTAGES.includes(error) ? new Refusal(502, "unreachable", message) : new SignInError(message);
  }
  if (parameters.get("code") === undefined) throw new SignInError("The callback has neither code nor error");
  const identity = await provider.finish(contextOf(as), attemptOf(as, pending), toMap(parameters));
  if (!await isAdmitted(provider, identity)) throw notAdmitted(provider);
  return identity;
}

/** @throws {Refusal | NotInvitedError} for a locked user, and for an identity that gets no account */
async function findUserOf(
  as: AuthorizationServer,
  context: RequestContext,
  provider: SignInProvider,
  identity: Identity,
  invitation: PendingSignIn["invitation"],
): Promise<Profile> {
  const { id } = provider;
  const rights = { role: roleOf(provider, identity), scopes: scopesOf(provider, identity) };
  const user = await findLinkedUser(
    as.store,
    identity,
    { provider: id, ...rights, now: as.now() },
    () => permitNewIdentity(as, context, id, identity, invitation),
  );
  if (user.locked !== undefined) throw notAdmitted(provider);
  return user;
}

function notAdmitted({ name }: SignInProvider): Refusal {
  return new Refusal(403, "not_admitted", `The user's account at ${name} may not sign in here`);
}

interface Problem {
  readonly status: number;
  readonly reason: SignInFailure;
}

/** Why the user is not signed in, for the page. */
class Refusal extends Error implements Problem {
  readonly status: number;
  readonly reason: SignInFailure;
  constructor(status: number, reason: SignInFailure, message: string) {
    super(message);
    this.status = status;
    this.reason = reason;
  }
}

function toProblem(
  as: AuthorizationServer,
  { id }: SignInProvider,
  error: unknown,
  context: RequestContext = {},
): Problem {
  const isUnreachable = error instanceof PublicFetchError ||
    error instanceof OAuthError && error.code === "temporarily_unavailable";
  if (
    !isUnreachable && !(error instanceof SignInError) && !(error instanceof Refusal) &&
    !(error instanceof NotInvitedError) && !(error instanceof SessionEndedError)
  ) throw error;
  as.observe({ type: "sign_in_failed", provider: id, reason: error.message, ip: context.ip });
  if (error instanceof Refusal) return error;
  if (error instanceof SessionEndedError) return { status: 400, reason: "expired" };
  if (error instanceof NotInvitedError) {
    return { status: 403, reason: as.signUp.providers === "closed" ? "not_admitted" : "not_invited" };
  }
  return isUnreachable ? { status: 502, reason: "unreachable" } : { status: 403, reason: "unverified" };
}

async function showFailure(
  as: AuthorizationServer,
  request: Request,
  { name }: SignInProvider,
  redirect: string,
  { status, reason }: Problem,
  fields: readonly (readonly [string, string])[] = [],
): Promise<Response> {
  const signIn = as.base + "/login" + (redirect === "" ? "" : "?redirect=" + encodeURIComponent(redirect));
  return await showPage(as, request, { name: "sign_in_failed", provider: name, reason, signIn }, {
    status,
    fields,
    formAction: "'none'",
  });
}

function refuseUnknown(as: AuthorizationServer, request: Request): Promise<Response> {
  return refuse(as, request, { code: "not_found", status: 404, text: "Not found." });
}

/** Each parameter must be there once. */
function readParameters(request: Request): Parameters | undefined {
  const parameters = parseParameters(queryOf(request.url));
  return parameters.repeated.length > 0 ? undefined : parameters;
}

function toMap(parameters: Parameters): ReadonlyMap<string, string> {
  return new Map(["code", "state", "iss", "user"].flatMap((name) => {
    const value = parameters.get(name);
    return value === undefined ? [] : [[name, value] as const];
  }));
}

function attemptOf(as: AuthorizationServer, pending: PendingSignIn): SignInAttempt {
  const { state, nonce, code_verifier, isNewLogin, began } = pending;
  const redirect_uri = `${as.issuer.replace(/\/$/, "")}/login/${pending.provider}/callback`;
  return { redirect_uri, state, nonce, code_verifier, isNewLogin, began };
}
