/**
 * Shows the sign-in page: which application the user goes on to, the fields, and the identity providers.
 *
 * @module
 */
import { parseForm } from "../../http/body/form.ts";
import { pathOf, queryOf } from "../../http/router.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findClient } from "../clients/client.ts";
import { findRedirectUri } from "../clients/redirect_uri.ts";
import { describeApplication } from "../consent/access_description.ts";
import { OAuthError } from "../error.ts";
import { hasPasswordReset } from "../mail/routes.ts";
import { offerPasskeyLogin } from "../factors/passkey_options.ts";
import { passkeyScriptUrl } from "../factors/passkey_script.ts";
import type { ApplicationView, SignInView } from "../pages/basic_views.ts";
import { chooseLanguage } from "../pages/language.ts";
import { showPage } from "../pages/page.ts";
import { parseParameters } from "../parameters.ts";
import { type User, userKey } from "../records/user_record.ts";
import { labelOf } from "../users/login_field.ts";
import { isReauthentication } from "../users/recent_login.ts";
import { findSession } from "../users/session.ts";
import { getStoredRequest, isPushedUri } from "./pushed_request.ts";

/** What the field for the user name shows at most. */
const MAX_USERNAME_CHARACTERS = 128;

/** Why the form is shown again, and what the user entered as user name. */
export interface FailedLogin {
  readonly username: string;
  /** Seconds until the next attempt; 0 when user name or password is wrong. */
  readonly wait: number;
}

/** 200 with the form; after a failed login 401, or 429 with `Retry-After`. @param redirect as `parseRedirect` gives it */
export async function showSignIn(
  as: AuthorizationServer,
  request: Request,
  context: RequestContext,
  redirect: string,
  failed?: FailedLogin,
): Promise<Response> {
  const isAgain = isReauthentication(request);
  const query = redirect === ""
    ? ""
    : "?redirect=" + encodeURIComponent(redirect) + (isAgain ? "&reauthenticate=1" : "");
  const { application, ui_locales } = await findApplication(as, redirect, context);
  const providers = await as.providers.list();
  const language = chooseLanguage(request, ui_locales, as.pages.defaultLanguage);
  const offered = as.factors.passkeys &&
    await offerPasskeyLogin(as, request, as.base + "/login/passkey" + query);
  const isRefused = parseForm(queryOf(request.url)).values.get("passkey") === "refused";
  const view: SignInView = {
    name: "sign_in",
    action: as.base + "/login" + query,
    ...(application && { application }),
    isAgain,
    hasPassword: as.passwordLogin,
    username: failed?.username.slice(0, MAX_USERNAME_CHARACTERS) ??
      await suggestUsername(as, request, isAgain),
    fields: as.loginFields.map(({ name, label, type, autocomplete = "off", required = false }) => ({
      name,
      label: labelOf(label, language),
      ...(type !== undefined && { type }),
      autocomplete,
      required,
    })),
    ...(as.signUp.passwords === "open" && { signUp: `${as.base}/login/sign-up${query}` }),
    ...(hasPasswordReset(as) && { passwordReset: `${as.base}/login/forgot${query}` }),
    providers: providers.map(({ id, name }) => ({ id, name, url: `${as.base}/login/${id}${query}` })),
    ...(offered && { passkey: offered.passkey }),
    ...(failed ? { problem: toProblem(failed.wait) } : isRefused && { problem: { code: "passkey_refused" } }),
  };
  const status = !failed ? 200 : failed.wait > 0 ? 429 : 401;
  return await showPage(as, request, view, {
    status,
    fields: offered?.fields,
    ui_locales,
    ...(offered && { script: passkeyScriptUrl(as) }),
  });
}

function toProblem(wait: number): NonNullable<SignInView["problem"]> {
  return wait > 0 ? { code: "too_many_attempts", seconds: wait } : { code: "wrong_credentials" };
}

/** The user who has to sign in again, or whom the client expects (OpenID Connect Core §3.1.2.1). */
async function suggestUsername(as: AuthorizationServer, request: Request, isAgain: boolean): Promise<string> {
  const signedIn = isAgain ? await findSession(as, request) : undefined;
  if (signedIn) return (await as.store.get<User>(userKey(signedIn.user.id)))?.value.username ?? "";
  const hint = as.openid && parseForm(queryOf(request.url)).values.get("login_hint");
  return hint ? hint.slice(0, MAX_USERNAME_CHARACTERS) : "";
}

interface AskingApplication {
  readonly application?: ApplicationView;
  /** The languages that its request names. */
  readonly ui_locales?: string | undefined;
}

/**
 * The application whose authorization request waits for the sign-in: `redirect` leads to it. None when the authorization
 * endpoint would refuse the request with a page, because then the user does not go on to this application.
 */
async function findApplication(
  as: AuthorizationServer,
  redirect: string,
  context: RequestContext,
): Promise<AskingApplication> {
  const url = as.origin + redirect;
  if (redirect === "" || pathOf(url) !== as.base + "/oauth/authorize") return {};
  try {
    const parameters = parseParameters(queryOf(url));
    const client_id = parameters.get("client_id");
    if (client_id === undefined || parameters.repeated.length > 0) return {};
    const client = await findClient(as, client_id, context);
    if (!client) return {};
    const request_uri = parameters.get("request_uri");
    // The redirect URI of a signed request is checked at the authorization endpoint, which sent the user here.
    const isByValue = request_uri === undefined && !parameters.has("request");
    if (isByValue && findRedirectUri(client, parameters.get("redirect_uri")) === undefined) return {};
    const isStored = request_uri !== undefined && (as.requestObjects === "off" || isPushedUri(request_uri));
    const stored = isStored ? (await getStoredRequest(as, client, request_uri)).parameters : undefined;
    return {
      application: describeApplication(client),
      ui_locales: (stored ?? parameters).get("ui_locales"),
    };
  } catch (error) {
    // The request has expired, or the document of the client cannot be fetched: the authorization endpoint says so.
    if (error instanceof OAuthError) return {};
    throw error;
  }
}
