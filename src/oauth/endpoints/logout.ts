/**
 * `/logout`: GET shows the form, POST ends the session.
 *
 * @module
 */
import { isSameOrigin } from "../../http/network/origin.ts";
import { html, respondPage } from "../../http/page.ts";
import { NO_STORE, respondText } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { endSession, findSession } from "../users/session.ts";

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
export async function logout(as: AuthorizationServer, request: Request): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) {
    return respondText(
      403,
      "Cross-site request refused. Open the logout page of this site and sign out there.",
    );
  }
  const signedIn = await findSession(as, request);
  const cookies = await endSession(as, request);
  if (signedIn) as.observe({ type: "logged_out", user: signedIn.user.id });
  return respondText(200, "You are signed out.", [...cookies, NO_STORE]);
}
