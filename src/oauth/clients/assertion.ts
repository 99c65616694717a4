/**
 * Checks that all JWT assertions need (https://www.rfc-editor.org/rfc/rfc7523#section-3): lifetime, `jti`, signature, and
 * that it was not used before.
 *
 * @module
 */
import type { Claims } from "../../crypto/jws.ts";
import { PublicFetchError } from "../../http/network/public_fetch.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { type OAuthError, plain } from "../error.ts";
import { type KeySource, verifyBySource } from "./key_set.ts";
import { useOnce } from "./replay.ts";

/** By how much clocks may differ. */
const CLOCK_SKEW_SECONDS = 60;

export interface AssertionRules {
  /** Who issued the assertion: each `jti` is used once for each issuer. */
  readonly issuer: string;
  readonly keys: KeySource;
  readonly maxLifetimeSeconds: number;
  /** The error for a rule that the assertion breaks. */
  refusal(rule: string): OAuthError;
}

/**
 * Verifies the assertion and marks it as used. The claims are checked before the signature, so that only an assertion
 * that could be valid makes the server fetch keys.
 * @param claims of the assertion, which the caller has checked for issuer and audience
 * @throws {OAuthError} from `refusal`
 */
export async function verifyAssertion(
  as: AuthorizationServer,
  assertion: string,
  claims: Claims,
  { issuer, keys, maxLifetimeSeconds, refusal }: AssertionRules,
): Promise<void> {
  const expires = checkTimes(as, claims, maxLifetimeSeconds);
  if (expires === undefined) {
    throw refusal(
      `exp must be in the next ${maxLifetimeSeconds} seconds, and nbf and iat must not be in the future`,
    );
  }
  const { jti } = claims;
  if (typeof jti !== "string" || jti === "" || jti.length > 512) {
    throw refusal("jti is required and must be a string of 1 to 512 characters");
  }
  const verified = await verifyBySource(as, keys, assertion).catch((error) => {
    if (!(error instanceof PublicFetchError)) throw error;
    throw refusal(`the keys at jwks_uri could not be fetched: ${plain(error.message)}`);
  });
  if (!verified) throw refusal("the signature does not verify with any key of the issuer");
  if (!await useOnce(as, "assertion", `${issuer}\n${jti}`, expires)) throw refusal("jti was used before");
}

/** When the assertion expires, in milliseconds since the epoch; `undefined` when its times are not valid now. */
function checkTimes(
  as: AuthorizationServer,
  { exp, nbf, iat }: Claims,
  maxLifetimeSeconds: number,
): number | undefined {
  const now = as.now() / 1000;
  const isExpOk = typeof exp === "number" && exp > now - CLOCK_SKEW_SECONDS &&
    exp <= now + maxLifetimeSeconds + CLOCK_SKEW_SECONDS;
  if (!isExpOk) return undefined;
  for (const time of [nbf, iat]) {
    if (time !== undefined && (typeof time !== "number" || time > now + CLOCK_SKEW_SECONDS)) return undefined;
  }
  return (exp + CLOCK_SKEW_SECONDS) * 1000;
}
