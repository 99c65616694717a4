/**
 * `private_key_jwt`: a client authenticates with a JWT that it signed
 * (https://www.rfc-editor.org/rfc/rfc7523#section-3, and draft-ietf-oauth-rfc7523bis for the audience).
 *
 * @module
 */
import { readJws } from "../../crypto/jws.ts";
import { networkOf } from "../../http/network/network.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import type { Client } from "../records/client_record.ts";
import { verifyAssertion } from "./assertion.ts";

/** A client makes an assertion for one request: one with a longer lifetime could be stolen and used later. */
const MAX_LIFETIME_SECONDS = 300;

/**
 * Verifies the assertion and marks it as used.
 * @throws {OAuthError} invalid_client, naming the rule that the assertion breaks
 */
export async function checkClientAssertion(
  as: AuthorizationServer,
  client: Client,
  assertion: string,
  context: RequestContext,
): Promise<void> {
  const { header = {}, claims = {} } = readJws(assertion) ?? {};
  // Clients that registered with an earlier version have it among the metadata that is returned unchanged.
  const { token_endpoint_auth_signing_alg: alg = client.metadata?.token_endpoint_auth_signing_alg } = client;
  if (alg !== undefined && header.alg !== alg) {
    throw refusal(`alg must be ${alg}, which this client registered`);
  }
  if (claims.iss !== client.id || claims.sub !== client.id) {
    throw refusal("iss and sub must be the client id");
  }
  // rfc7523bis: the issuer as the only audience, so that another server cannot pass the assertion on to this one.
  if (claims.aud !== as.issuer) throw refusal(`aud must be the string ${as.issuer}`);
  await verifyAssertion(as, assertion, claims, {
    issuer: client.id,
    keys: { ...client, network: networkOf(context), isKnown: client.source === "operator" },
    maxLifetimeSeconds: MAX_LIFETIME_SECONDS,
    refusal,
  });
}

function refusal(rule: string): OAuthError {
  return new OAuthError("invalid_client", `Invalid client_assertion: ${rule}`);
}
