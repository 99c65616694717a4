/**
 * The authorization response: a redirect to the client with a code or an error
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2) and the issuer (https://www.rfc-editor.org/rfc/rfc9207).
 *
 * @module
 */
import { NO_STORE, respond } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { OAuthErrorCode } from "../error.ts";

type Answer = { readonly code: string } | {
  readonly error: OAuthErrorCode;
  readonly error_description: string;
};

/**
 * 302 to the redirect URI with the answer, `state` and `iss`.
 * @param to a redirect URI that was checked for this client, and the `state` of the request
 */
export function respondToClient(
  as: AuthorizationServer,
  { redirect_uri, state }: { redirect_uri: string; state: string | undefined },
  answer: Answer,
): Response {
  const parameters = { ...answer, ...(state !== undefined && { state }), iss: as.issuer };
  // Spaces become %20, not "+": some clients decode percent-encoding only.
  const query = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  // RFC 6749 §3.1.2: a query of the redirect URI is retained.
  const separator = !redirect_uri.includes("?") ? "?" : /[?&]$/.test(redirect_uri) ? "" : "&";
  return respond(302, null, [
    ["location", redirect_uri + separator + query],
    NO_STORE,
    ["referrer-policy", "no-referrer"],
  ]);
}
