/**
 * `/login/forgot`: asks for a user name or an e-mail address, and sends a link to reset the password.
 *
 * @module
 */
import { readForm } from "../../http/body/form.ts";
import { isSameOrigin } from "../../http/network/origin.ts";
import { INVALID_REDIRECT, parseRedirect } from "../endpoints/login_redirect.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { chooseLanguage } from "../pages/language.ts";
import { refuse, refuseForeignForm, showPage } from "../pages/page.ts";
import { MAX_IDENTIFIER_CHARACTERS, requestPasswordReset } from "./password_reset.ts";
import type { ForgotPasswordView } from "./views.ts";

const MAX_FORM_BYTES = 4 * 1024;

/** `GET /login/forgot?redirect=…`: 200 with the form. `redirect` is for the link back. */
export async function showForgotPassword(as: AuthorizationServer, request: Request): Promise<Response> {
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) {
    return await refuse(as, request, { code: "invalid_redirect", status: 400, text: INVALID_REDIRECT });
  }
  return await showForm(as, request, redirect, "");
}

/**
 * `POST /login/forgot`: 200 whether there is such a user or not. 400 without a name, 429 after too many requests for it or
 * from this network, 403 for a form that another site sent.
 */
export async function forgotPassword(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
): Promise<Response> {
  if (!isSameOrigin(request, as.origin)) return await refuseForeignForm(as, request);
  const redirect = parseRedirect(as, request);
  if (redirect === undefined) {
    return await refuse(as, request, { code: "invalid_redirect", status: 400, text: INVALID_REDIRECT });
  }
  const identifier = ((await readForm(request, MAX_FORM_BYTES)).values.get("identifier") ?? "").trim();
  if (identifier === "" || identifier.length > MAX_IDENTIFIER_CHARACTERS) {
    return await showForm(as, request, redirect, "", { code: "missing" });
  }
  const language = chooseLanguage(request, undefined, as.pages.defaultLanguage);
  const seconds = await requestPasswordReset(as, context, identifier, language);
  if (seconds > 0) {
    return await showForm(as, request, redirect, identifier, { code: "too_many_attempts", seconds });
  }
  const view = { name: "reset_sent", signIn: signInUrl(as, redirect) } as const;
  return await showPage(as, request, view, { formAction: "'none'" });
}

async function showForm(
  as: AuthorizationServer,
  request: Request,
  redirect: string,
  identifier: string,
  problem?: ForgotPasswordView["problem"],
): Promise<Response> {
  const query = redirect === "" ? "" : "?redirect=" + encodeURIComponent(redirect);
  const view: ForgotPasswordView = {
    name: "forgot_password",
    action: `${as.base}/login/forgot${query}`,
    identifier,
    signIn: signInUrl(as, redirect),
    ...(problem && { problem }),
  };
  return await showPage(as, request, view, {
    status: problem === undefined ? 200 : problem.code === "missing" ? 400 : 429,
    formAction: "'self'",
  });
}

function signInUrl({ base }: AuthorizationServer, redirect: string): string {
  return base + "/login" + (redirect === "" ? "" : "?redirect=" + encodeURIComponent(redirect));
}
