/**
 * `/logout`: GET shows the form, POST ends the session.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { type Fields, NO_STORE, respond, respondText } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { refuseForeignForm, showPage, wantsPage } from "../pages/page.ts";
import { refuseRedirect } from "./login.ts";
import { parseRedirect } from "./login_redirect.ts";
import { endSession, findSession } from "../users/session.ts";

const prepareSessionEnd = loadOnDemand(async () =>
  (await import("../openid/backchannel_logout.ts")).prepareSessionEnd
);

/** 200 with the form. */
export async function showLogout(as: AuthorizationServer, request: Request): Promise<Response> {
  const signedIn = await findSession(as, request);
  return await showPage(as, request, {
    name: "sign_out",
    action: as.base + "/logout",
    hidden: {},
    ...(signedIn && { user: signedIn.user.name }),
    ...(signedIn && as.account && { account: `${as.base}/account` }),
  }, { formAction: "'self'" });
}

/**
 * `POST /logout?redirect=...`: 303 to `redirect`, where another user can sign in, or 200 without one: a page for browsers,
 * else plain text. No session is left, also when there was none. 403 for a form that another site sent, 400 for an invalid
 * redirect.
 */
export async function logout(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) return await refuseRedirect(as, request);
  const fields = [...await signOut(as, request, context), NO_STORE];
  if (redirect !== "") return respond(303, null, [["location", redirect], ...fields]);
  if (!wantsPage(request)) return respondText(200, "You are signed out.", fields);
  const view = { name: "signed_out", signIn: as.base + "/login" } as const;
  return await showPage(as, request, view, { fields, formAction: "'none'" });
}

/**
 * Ends the session of the request, and notifies the clients that asked for it (OpenID Connect Back-Channel Logout).
 * @returns the `Set-Cookie` fields that remove its cookies
 */
export async function signOut(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Fields> {
  const signedIn = await findSession(as, request);
  // Before the session ends, so that no failure between the two leaves a client without a notice.
  const notify = as.openid && signedIn && await prepareSessionEnd(as, signedIn.origin, context);
  const cookies = await endSession(as, request, signedIn?.user.id);
  if (!signedIn) return cookies;
  as.observe({ type: "logged_out", user: signedIn.user.id });
  notify?.();
  return cookies;
}
