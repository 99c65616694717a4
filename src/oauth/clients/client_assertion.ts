/**
 * `private_key_jwt`: a client proves who it is with a JWT that it signed
 * (https://www.rfc-editor.org/rfc/rfc7523#section-3, and draft-ietf-oauth-rfc7523bis for the audience).
 *
 * @module
 */
import { readJws } from "../../crypto/jws.ts";
import { networkOf } from "../../http/network/network.ts";
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import type { RequestContext } from "../../http/service.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError, plain } from "../error.ts";
import { verifyBySource } from "./key_set.ts";
import type { Client } from "../records.ts";
import { useOnce } from "./replay.ts";

export const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

/** An assertion is made for one request: what lives longer could be kept and used by somebody else. Seconds. */
const LONGEST = 300;
/** How far clocks may differ, in seconds. */
export const CLOCK_SKEW = 60;

/** The client that an assertion says it is from, before anything of it is believed. */
export function clientIdOf(assertion: string): string | undefined {
  const claims = readJws(assertion)?.claims;
  return typeof claims?.sub === "string" && claims.sub === claims.iss ? claims.sub : undefined;
}

/**
 * Checks the assertion and uses it up. Its claims come first: only what could be good makes us fetch keys.
 * @throws {OAuthError} invalid_client, saying which rule it breaks
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
  // rfc7523bis: one audience, the issuer, as a string, so that no other server's endpoint can pass it on.
  if (claims.aud !== as.issuer) throw refusal(`aud must be the string ${as.issuer}`);
  const expires = checkTimes(as, claims, LONGEST);
  if (expires === undefined) {
    throw refusal(`exp must be in the next ${LONGEST} seconds, and nbf and iat must not be in the future`);
  }
  if (!isJti(claims.jti)) throw refusal("jti is required and must be a string of 1 to 512 characters");
  const source = { ...client, network: networkOf(context), isKnown: client.source === "operator" };
  const verified = await verifyBySource(as, source, assertion).catch((error) => {
    if (!(error instanceof PublicFetchError)) throw error;
    throw refusal(`the keys at jwks_uri could not be fetched: ${plain(error.message)}`);
  });
  if (!verified) throw refusal("the signature does not verify with any key of the client");
  if (!await useOnce(as, "assertion", `${client.id}\n${claims.jti}`, expires)) {
    throw refusal("jti was used before");
  }
}

/** When the claims end, in milliseconds; `undefined` when they have ended, have not begun, or last too long. */
export function checkTimes(
  as: AuthorizationServer,
  { exp, nbf, iat }: Readonly<Record<string, unknown>>,
  longest: number,
): number | undefined {
  const now = as.now() / 1000;
  if (typeof exp !== "number" || exp <= now - CLOCK_SKEW || exp > now + longest + CLOCK_SKEW) {
    return undefined;
  }
  for (const time of [nbf, iat]) {
    if (time !== undefined && (typeof time !== "number" || time > now + CLOCK_SKEW)) return undefined;
  }
  return (exp + CLOCK_SKEW) * 1000;
}

export function isJti(jti: unknown): jti is string {
  return typeof jti === "string" && jti !== "" && jti.length <= 512;
}

function refusal(rule: string): OAuthError {
  return new OAuthError("invalid_client", `Invalid client_assertion: ${rule}`);
}
