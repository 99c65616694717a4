/**
 * The key or certificate that a token is bound to (`cnf`, RFC 7800 section 3.1): the key of a DPoP proof (RFC 9449), a
 * client certificate (RFC 8705), or both.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { readCertificate } from "../clients/read_certificate.ts";
import { OAuthError, type OAuthErrorCode } from "../error.ts";
import type { Client } from "../records/client_record.ts";
import type { Confirmation } from "../records/token_record.ts";

/**
 * What the tokens of this request are bound to. A DPoP proof does not replace a certificate that the client must present:
 * then tokens are bound to both.
 * @param jkt the thumbprint of the key of the request's DPoP proof
 * @throws {OAuthError} when the client must send a DPoP proof or present a certificate and does not
 */
export async function readConfirmation(
  as: AuthorizationServer,
  client: Client,
  request: Request,
  context: RequestContext,
  jkt: string | undefined,
): Promise<Confirmation | undefined> {
  if (jkt === undefined && client.dpop_bound_access_tokens) {
    throw new OAuthError("invalid_dpop_proof", "This client must send a DPoP proof");
  }
  if (
    as.securityProfile !== undefined && jkt === undefined &&
    !client.tls_client_certificate_bound_access_tokens
  ) {
    throw new OAuthError("invalid_dpop_proof", "FAPI 2.0 requires bound access tokens: send a DPoP proof");
  }
  if (!client.tls_client_certificate_bound_access_tokens) return jkt === undefined ? undefined : { jkt };
  const certificate = await readCertificate(as, request, context);
  if (!certificate) {
    throw new OAuthError("invalid_request", "This client must present a client certificate");
  }
  return { ...(jkt !== undefined && { jkt }), "x5t#S256": certificate.thumbprint };
}

/**
 * Checks that the request proves possession of what the token is bound to.
 * @param name what is bound, as the description calls it
 * @throws {OAuthError} with this code
 */
export function requireConfirmation(
  bound: Confirmation | undefined,
  shown: Confirmation | undefined,
  code: OAuthErrorCode,
  name: string,
): void {
  if (!bound) return;
  const isProven = (bound.jkt === undefined || bound.jkt === shown?.jkt) &&
    (bound["x5t#S256"] === undefined || bound["x5t#S256"] === shown?.["x5t#S256"]);
  if (isProven) return;
  throw new OAuthError(
    code,
    `${name} is bound to a DPoP key or a client certificate. Prove possession of it`,
  );
}
