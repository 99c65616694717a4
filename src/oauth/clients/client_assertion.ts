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

export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** A client makes an assertion for one request: one with a longer lifetime could be stolen and used later. */
const MAX_LIFETIME_SECONDS = 300;

/** The client that the assertion names, before anything of it is verified. */
export function clientIdOf(assertion: string): string | undefined {
  const claims = readJws(assertion)?.claims;
  return typeof claims?.sub === "string" && claims.sub === claims.iss ? claims.sub : undefined;
}

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
  const claims = readJws(assertion)?.claims ?? {};
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
