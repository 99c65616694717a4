/**
 * What follows when a user has proved who they are, whatever the way: starts the session and sends the browser to where it
 * came from.
 *
 * @module
 */
import { type Fields, NO_STORE, respond, respondText } from "../../http/response.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthenticatedUser, AuthorizationServer } from "../authorization_server.ts";
import { showPage, wantsPage } from "../pages/page.ts";
import { findFactors, hasSecondFactor } from "../factors/factor_record.ts";
import { createDeviceCookie } from "./device_cookie.ts";
import type { LoginMethod } from "./login_method.ts";
import { startSession } from "./session.ts";

const beginSecondStep = loadOnDemand(async () =>
  (await import("../factors/pending_login.ts")).beginSecondStep
);

/**
 * The response after a login: a redirect to `redirect`, or without one to the account page; 200 in plain text for a program,
 * and with a page where there are no account pages. The session has a new id. A user with a second factor gets no session,
 * but a redirect to `/login/factor`.
 * @param redirect a path of this server as `parseRedirect` gives it, or `""`
 * @param fields further header fields, such as the end of a cookie
 */
export async function completeLogin(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  user: AuthenticatedUser,
  method: LoginMethod,
  redirect: string,
  fields: Fields = [],
): Promise<Response> {
  if (user.acr !== as.factors.acr && hasSecondFactor(await findFactors(as, user.id))) {
    return await beginSecondStep(as, user, method, redirect, fields);
  }
  const { provider, account, factor } = method;
  // First: nothing may fail once the session has started.
  const device = account === undefined ? undefined : await createDeviceCookie(as, request, account);
  const all: Fields = [
    ...await startSession(as, request, user, method, context),
    ...device === undefined ? [] : [["set-cookie", device] as const],
    ...fields,
    NO_STORE,
  ];
  as.observe({
    type: "login_succeeded",
    user: user.id,
    ip: context.ip,
    ...(provider !== undefined && { provider }),
    ...(factor !== undefined && { factor }),
  });
  const target = redirect === "" && as.account && wantsPage(request) ? `${as.base}/account` : redirect;
  if (target === "") {
    if (!wantsPage(request)) return respondText(200, `Welcome, ${user.name}. You are signed in.`, all);
    const view = { name: "signed_in", user: user.name, signOut: as.base + "/logout" } as const;
    return await showPage(as, request, view, { fields: all, formAction: "'none'" });
  }
  return respond(as.securityProfile === undefined ? 302 : 303, null, [["location", target], ...all]);
}
