/**
 * The redirect to the login page, for requests that need a signed-in user, and back.
 *
 * @module
 */
import { parseForm } from "../../http/body/form.ts";
import { NO_STORE, respond } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Parameters } from "../parameters.ts";

export const INVALID_REDIRECT =
  "Invalid redirect: it must be a path on this server, such as /oauth/authorize?...";

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
  const hint = login_hint === undefined
    ? ""
    : `&login_hint=${encodeURIComponent(login_hint.slice(0, 128).toWellFormed())}`;
  return respond(302, JSON.stringify(body), [
    ["location", `${as.base}/login?redirect=${encodeURIComponent(back)}${hint}`],
    ["content-type", "application/json"],
    NO_STORE,
  ]);
}

/** 302 to the second step alone, for a user whose session lacks it. It leads back to this path and query. */
export function redirectToSecondFactor(as: AuthorizationServer, path: string, query: string): Response {
  const back = encodeURIComponent(path + "?" + query);
  return respond(302, null, [["location", `${as.base}/login/factor?step_up=1&redirect=${back}`], NO_STORE]);
}

/**
 * The path after login: `""` when the request names none, `undefined` when it is not on this server. Parsed as browsers
 * do, so that a browser cannot resolve it to another host.
 */
export function parseRedirect(as: AuthorizationServer, request: Request): string | undefined {
  const { values, repeated } = parseForm(queryOf(request.url));
  const redirect = values.get("redirect") ?? "";
  if (redirect === "") return "";
  // deno-lint-ignore no-control-regex
  if (repeated.includes("redirect") || redirect.length > 8192 || /[\u0000-\u0020\u007f\\]/.test(redirect)) {
    return undefined;
  }
  if (!redirect.startsWith("/") && !redirect.startsWith(as.origin + "/")) return undefined;
  const url = URL.parse(redirect, as.origin);
  if (url === null || url.origin !== as.origin || url.username !== "" || url.password !== "") {
    return undefined;
  }
  const path = url.pathname + url.search + url.hash;
  // The parser turns /.//evil.example into //evil.example, which names a host.
  return path.startsWith("//") ? undefined : path;
}
