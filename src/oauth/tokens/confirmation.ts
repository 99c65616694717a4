/**
 * What tokens are bound to (RFC 7800 section 3.1): the key of a DPoP proof (RFC 9449), a client certificate (RFC 8705),
 * or both.
 *
 * @module
 */
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { readCertificate } from "../clients/client_certificate.ts";
import { OAuthError } from "../error.ts";
import type { Client, Confirmation } from "../records.ts";

/**
 * What the tokens of this request will be bound to. A proof does not take the place of a certificate that the client
 * must show: its tokens are bound to both.
 * @param jkt the thumbprint of the key of the request's DPoP proof
 * @throws {OAuthError} when the client must show a key or a certificate and does not
 */
export function readConfirmation(
  as: AuthorizationServer,
  client: Client,
  request: Request,
  context: RequestContext,
  jkt: string | undefined,
): Confirmation | undefined {
  if (jkt === undefined && client.dpop_bound_access_tokens) {
    throw new OAuthError("invalid_dpop_proof", "This client must send a DPoP proof");
  }
  if (!client.tls_client_certificate_bound_access_tokens) return jkt === undefined ? undefined : { jkt };
  const certificate = readCertificate(as, request, context);
  if (!certificate) {
    throw new OAuthError("invalid_request", "This client must present a client certificate");
  }
  return { ...(jkt !== undefined && { jkt }), "x5t#S256": certificate.thumbprint };
}

/** Whether everything that a token is bound to was shown. */
export function isConfirmed(bound: Confirmation | undefined, shown: Confirmation | undefined): boolean {
  if (!bound) return true;
  return (bound.jkt === undefined || bound.jkt === shown?.jkt) &&
    (bound["x5t#S256"] === undefined || bound["x5t#S256"] === shown?.["x5t#S256"]);
}
