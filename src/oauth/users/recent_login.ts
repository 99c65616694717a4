/**
 * Changes that could take an account away from its owner (password, e-mail address, factors, deletion) require a login of
 * the last minutes: a browser that was left open, or a stolen session, does not suffice.
 *
 * @module
 */
import { parseForm } from "../../http/body/form.ts";
import { NO_STORE, respond } from "../../http/response.ts";
import { queryOf } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { SignedIn } from "./session.ts";

/** How long a login counts as recent, in milliseconds. */
export const RECENT_LOGIN_MS = 600_000;

/**
 * Whether the user must sign in again before such a change. A provider that does not say when the user signed in there may
 * have answered without asking them, so a login there counts only where it could not be asked for more.
 */
export async function needsRecentLogin(
  { now, providers, factors }: Pick<AuthorizationServer, "now" | "providers" | "factors">,
  { authentication: { acr, auth_time }, since }: Pick<SignedIn, "authentication" | "since">,
): Promise<boolean> {
  if (now() - auth_time * 1000 >= RECENT_LOGIN_MS) return true;
  if (since > 0 || acr === factors.acr) return false;
  return (await providers.find(acr))?.asksAgain !== false;
}

/** 303 to the login page, which leads back to this path of the server. @param path below the issuer, such as `/account/email` */
export function redirectToRecentLogin({ base }: AuthorizationServer, path: string): Response {
  const location = `${base}/login?redirect=${encodeURIComponent(base + path)}&reauthenticate=1`;
  return respond(303, null, [["location", location], NO_STORE]);
}

/** Whether a request for the login page, or for a provider, comes from {@linkcode redirectToRecentLogin}. */
export function isReauthentication({ url }: Request): boolean {
  return parseForm(queryOf(url)).values.get("reauthenticate") === "1";
}
