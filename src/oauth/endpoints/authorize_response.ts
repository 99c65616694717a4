/**
 * The authorization response: a redirect to the client, or what its
 * response mode says, with a code or an error
 * (https://www.rfc-editor.org/rfc/rfc6749#section-4.1.2) and the issuer (https://www.rfc-editor.org/rfc/rfc9207).
 *
 * @module
 */
import { NO_STORE, respond } from "../../http/response.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { OAuthErrorCode } from "../error.ts";
import type { AuthorizationRequest } from "../records/authorization_record.ts";

type Answer = { readonly code: string } | {
  readonly error: OAuthErrorCode;
  readonly error_description: string;
};

/** Where and how the response goes. The redirect URI was checked for this client. */
export type ResponseTarget = Pick<
  AuthorizationRequest,
  "client_id" | "redirect_uri" | "state" | "response_mode" | "response_alg"
>;

/**
 * 302 to the redirect URI with the answer, `state` and `iss`, or what the response mode says.
 * @param browser the request that this answers
 */
export async function respondToClient(
  as: AuthorizationServer,
  browser: Request,
  { client_id, redirect_uri, state, response_mode, response_alg }: ResponseTarget,
  answer: Answer,
): Promise<Response> {
  let parameters: Record<string, string> = {
    ...answer,
    ...(state !== undefined && { state }),
    iss: as.issuer,
  };
  if (response_mode?.endsWith("jwt")) {
    const { signResponse } = await import("../response_modes/signed_response.ts");
    parameters = { response: await signResponse(as, client_id, response_alg, parameters) };
  }
  if (response_mode?.startsWith("form_post")) {
    const { respondByForm } = await import("../response_modes/form_post.ts");
    return await respondByForm(as, browser, redirect_uri, parameters);
  }
  // Spaces become %20, not "+": some clients decode percent-encoding only.
  const text = Object.entries(parameters).map(([name, value]) => `${name}=${encodeURIComponent(value)}`)
    .join("&");
  // RFC 6749 §3.1.2: a query of the redirect URI is retained.
  const separator = response_mode === "fragment.jwt"
    ? "#"
    : !redirect_uri.includes("?")
    ? "?"
    : /[?&]$/.test(redirect_uri)
    ? ""
    : "&";
  return respond(as.securityProfile === undefined ? 302 : 303, null, [
    ["location", redirect_uri + separator + text],
    NO_STORE,
    ["referrer-policy", "no-referrer"],
  ]);
}
