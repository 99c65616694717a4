/**
 * `/login`: GET shows the form, POST checks user name and password and starts a session. `redirect` leads only to paths
 * of this server.
 *
 * @module
 */
import { readForm } from "../../http/body/form.ts";
import { loadOnDemand } from "../../http/load_on_demand.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { NO_STORE, respondText } from "../../http/response.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { completeLogin } from "../users/complete_login.ts";
import { attemptLogin } from "../users/login_attempt.ts";
import { INVALID_REDIRECT, parseRedirect } from "./login_redirect.ts";
import { refuse, refuseForeignForm, wantsPage } from "../pages/page.ts";
import { canonicalUsername, findUserId } from "../users/user.ts";

const MAX_FORM_BYTES = 16 * 1024;

const showSignIn = loadOnDemand(async () => (await import("./show_login.ts")).showSignIn);

/**
 * `GET /login?redirect=...`: 200 with the form, 400 for an invalid redirect. With `reauthenticate=1` the user who is signed
 * in is to sign in again (`recent_login.ts`).
 */
export async function showLogin(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) return await refuseRedirect(as, request);
  return await showSignIn(as, request, context, redirect);
}

/** 400: the redirect would lead to another site. */
export function refuseRedirect(as: AuthorizationServer, request: Request): Promise<Response> {
  return refuse(as, request, {
    code: "invalid_redirect",
    status: 400,
    text: INVALID_REDIRECT,
    link: as.base + "/login",
  });
}

/**
 * `POST /login?redirect=...` with `username` and `password`: 302 to `redirect`, or 200 in plain text without one.
 * 401 when user name or password is wrong, 429 after too many attempts (both a page for browsers, else plain text), 403
 * for a form that another site sent, and where no one signs in with a password.
 */
export async function login(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) return await refuseRedirect(as, request);
  if (!as.passwordLogin) {
    return await refuse(as, request, {
      code: "no_password_sign_in",
      status: 403,
      text: "Users sign in at an identity provider here. Open the login page to choose one.",
      link: as.base + "/login",
    });
  }
  const { values, repeated } = await readForm(request, MAX_FORM_BYTES);
  const username = values.get("username");
  const password = values.get("password");
  if (!username || !password || repeated.length > 0) {
    return await refuse(as, request, {
      code: "missing_fields",
      status: 400,
      text: "username or password is missing or repeated. Send each form field once.",
    });
  }
  if (as.loginFields.some(({ name, required }) => required && !values.get(name))) {
    const text = "A required field of the login form is missing.";
    return await refuse(as, request, { code: "missing_fields", status: 400, text });
  }
  const began = as.now();
  const { user, wait } = await attemptLogin(as, values, request, context);
  if (!user) {
    // Read for every name: the time must not depend on whether the account exists.
    const account = as.authenticateUser ? undefined : await findUserId(as.store, username);
    as.observe({
      type: "login_failed",
      username: username.slice(0, 128),
      ip: context.ip,
      ...(account !== undefined && { user: account }),
    });
    if (wantsPage(request)) return await showSignIn(as, request, context, redirect, { username, wait });
    return wait > 0
      ? respondText(429, `Too many attempts. Try again in ${wait} second${wait === 1 ? "" : "s"}.`, [
        ["retry-after", String(wait)],
        NO_STORE,
      ])
      : respondText(401, "Wrong user name or password.", [NO_STORE]);
  }
  const method = { account: canonicalUsername(username), began };
  return await completeLogin(as, request, context, user, method, redirect);
}
