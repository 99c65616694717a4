/**
 * The redirect to the login page, for requests that need a signed-in user.
 *
 * @module
 */
import { NO_STORE, respond } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Parameters } from "../parameters.ts";

/** OpenID Connect Core §3.1.2.1: the user name that the client expects. */
export function loginHintOf(as: AuthorizationServer, parameters: Parameters): string | undefined {
  return as.openid && parameters.get("login_hint");
}

/**
 * 302 to the login page, which leads back to this path and query. The body is for programs that do not follow it.
 * @param login_hint the user name to suggest
 */
export function redirectToLogin(
  as: AuthorizationServer,
  path: string,
  query: string,
  login_hint?: string,
): Response {
  const back = path + (query === "" ? "" : "?" + query);
  const body = {
    error: "access_denied",
    error_description: "No user is signed in: sign in at the URL in the Location header",
  };
  const hint = login_hint === undefined ? "" : `&login_hint=${encodeURIComponent(login_hint.slice(0, 128))}`;
  return respond(302, JSON.stringify(body), [
    ["location", `${as.base}/login?redirect=${encodeURIComponent(back)}${hint}`],
    ["content-type", "application/json"],
    NO_STORE,
  ]);
}
