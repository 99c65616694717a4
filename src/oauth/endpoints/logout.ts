/**
 * `/logout`: GET shows the form, POST ends the session.
 *
 * @module
 */
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { html, respondPage } from "../../http/page.ts";
import { type Fields, NO_STORE, respondText } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { endSession, findSession } from "../users/session.ts";

const prepareSessionEnd = loadOnDemand(async () =>
  (await import("../openid/backchannel_logout.ts")).prepareSessionEnd
);

/** 200 with the form. */
export function showLogout(as: AuthorizationServer): Response {
  return respondPage({
    title: "Sign out",
    formAction: "'self'",
    body: html`
      <h1>Sign out</h1>
      <form method="post" action="${as.base + "/logout"}"><button>Sign out</button></form>
    `,
  });
}

/** 200 without a session afterwards, also when there was none. 403 for a form that another site sent. */
export async function logout(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) {
    return respondText(
      403,
      "Cross-site request refused. Open the logout page of this site and sign out there.",
    );
  }
  return respondText(200, "You are signed out.", [...await signOut(as, request, context), NO_STORE]);
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
  const notify = as.openid && signedIn && await prepareSessionEnd(as, signedIn.session, context);
  const cookies = await endSession(as, request, signedIn?.user.id);
  if (!signedIn) return cookies;
  as.observe({ type: "logged_out", user: signedIn.user.id });
  notify?.();
  return cookies;
}
