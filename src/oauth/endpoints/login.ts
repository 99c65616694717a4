/**
 * `/login`: GET shows the form, POST checks user name and password and starts a session. `redirect` leads only to paths
 * of this server.
 *
 * @module
 */
import { parseForm, readForm } from "../../http/body/form.ts";
import { acceptNames } from "../../http/body/media_type.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { html, type Markup, respondPage } from "../../http/page.ts";
import { NO_STORE, respondText } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { completeLogin } from "../users/complete_login.ts";
import { attemptLogin } from "../users/login_attempt.ts";
import { type FormProblem, showProblem, tooManyAttempts } from "./form_problem.ts";
import { INVALID_REDIRECT, parseRedirect } from "./login_redirect.ts";
import type { SignInProvider } from "../sign_in/provider.ts";
import { type User, userKey } from "../records.ts";
import { isReauthentication } from "../users/recent_login.ts";
import { findSession } from "../users/session.ts";
import { canonicalUsername } from "../users/user.ts";

const MAX_FORM_BYTES = 16 * 1024;
const WRONG_CREDENTIALS: FormProblem = { message: "Wrong user name or password.", status: 401 };

/**
 * `GET /login?redirect=...`: 200 with the form, 400 for an invalid redirect. With `reauthenticate=1` the user who is signed
 * in is to sign in again (`recent_login.ts`).
 */
export async function showLogin(as: AuthorizationServer, request: Request): Promise<Response> {
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) return respondText(400, INVALID_REDIRECT);
  return await loginPage(as, request, redirect);
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
  if (!isSameOrigin(request, as.origin)) {
    return respondText(
      403,
      "Cross-site request refused. Open the login page of this site and sign in there.",
    );
  }
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) return respondText(400, INVALID_REDIRECT);
  if (!as.passwordLogin) {
    return respondText(403, "Users sign in at an identity provider here. Open the login page to choose one.");
  }
  const { values, repeated } = await readForm(request, MAX_FORM_BYTES);
  const username = values.get("username");
  const password = values.get("password");
  if (!username || !password || repeated.length > 0) {
    return respondText(400, "username or password is missing or repeated. Send each form field once.");
  }
  const began = as.now();
  const { user, wait } = await attemptLogin(as, values, request, context);
  if (!user) {
    as.observe({ type: "login_failed", username: username.slice(0, 128), ip: context.ip });
    return await respondFailure(as, request, redirect, wait);
  }
  const method = { account: canonicalUsername(username), began };
  return await completeLogin(as, request, context, user, method, redirect);
}

/** 401, or 429 with `Retry-After`: a page for browsers, else plain text. */
async function respondFailure(
  as: AuthorizationServer,
  request: Request,
  redirect: string,
  waitSeconds: number,
): Promise<Response> {
  const problem = waitSeconds > 0 ? tooManyAttempts(waitSeconds) : WRONG_CREDENTIALS;
  const { message, status, fields = [] } = problem;
  return acceptNames(request.headers.get("accept"), "text/html")
    ? await loginPage(as, request, redirect, problem)
    : respondText(status, message, [...fields, NO_STORE]);
}

async function loginPage(
  as: AuthorizationServer,
  request: Request,
  redirect: string,
  problem?: FormProblem,
): Promise<Response> {
  const providers = await as.providers.list();
  const isAgain = isReauthentication(request);
  const query = redirect === ""
    ? ""
    : "?redirect=" + encodeURIComponent(redirect) + (isAgain ? "&reauthenticate=1" : "");
  const action = as.base + "/login" + query;
  return respondPage({
    title: "Sign in",
    status: problem?.status ?? 200,
    fields: problem?.fields ?? [],
    body: html`
      <h1>Sign in</h1>
      <p class="soft">to ${new URL(as.issuer).host}</p>
      ${showProblem(problem)}
      ${providers.map((provider) => providerLink(as, provider, query))}
      ${as.passwordLogin && html`
        <form method="post" action="${action}">
          <label for="username">User name</label>
          <input id="username" name="username" autocomplete="username" autocapitalize="none" spellcheck="false"
            value="${await suggestUsername(as, request, isAgain)}" required autofocus>
          <label for="password">Password</label>
          <input id="password" name="password" type="password" autocomplete="current-password" required>
          <button>Sign in</button>
        </form>
      `}
    `,
  });
}

/** The user who has to sign in again, or whom the client expects (OpenID Connect Core §3.1.2.1). */
async function suggestUsername(as: AuthorizationServer, request: Request, isAgain: boolean): Promise<string> {
  const signedIn = isAgain ? await findSession(as, request) : undefined;
  if (signedIn) return (await as.store.get<User>(userKey(signedIn.user.id)))?.value.username ?? "";
  const hint = as.openid && request.method !== "POST" &&
    parseForm(queryOf(request.url)).values.get("login_hint");
  return hint ? hint.slice(0, 128) : "";
}

/** A link to an identity provider. Not a form: its redirect would leave this server, which `form-action` forbids. */
function providerLink(
  { base }: AuthorizationServer,
  { id, name }: Pick<SignInProvider, "id" | "name">,
  query: string,
): Markup {
  return html`
    <p><a class="button" href="${`${base}/login/${id}${query}`}">Continue with ${name}</a></p>
  `;
}
