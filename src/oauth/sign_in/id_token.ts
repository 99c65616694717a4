/**
 * Verifies an ID token (https://openid.net/specs/openid-connect-core-1_0.html#IDTokenValidation). The signature is
 * verified, too, although the token comes over TLS from the token endpoint.
 *
 * @module
 */
import type { PublicJwk } from "../../crypto/jwk.ts";
import { type Claims, type JwsAlgorithm, readJws } from "../../crypto/jws.ts";
import { equalInConstantTime } from "../../crypto/secret.ts";
import { type KeySource, verifyBySource } from "../clients/key_set.ts";
import { leftHalfHash } from "../openid/id_token.ts";
import { type ProviderContext, SignInError } from "./provider.ts";

export interface IdTokenRules {
  readonly clientId: string;
  readonly nonce: string;
  readonly jwks_uri: string;
  /** The access token of the same response. */
  readonly access_token: string;
  /** Whether this is the issuer of the token, given its claims: one provider issues under names of tenants. */
  isIssuer(iss: string, claims: Claims): boolean;
  /** Whether this key of the issuer may sign it. @default every key */
  readonly isSigner?: ((key: PublicJwk, claims: Claims) => boolean) | undefined;
}

const CLOCK_SKEW_SECONDS = 60;
const MAX_SUBJECT_CHARACTERS = 255;

/** The claims. @throws {SignInError} naming the rule that the token breaks */
export async function verifyIdToken(
  { documents, now }: ProviderContext,
  token: unknown,
  { clientId, nonce, jwks_uri, access_token, isIssuer, isSigner }: IdTokenRules,
): Promise<Claims & { readonly iss: string; readonly sub: string }> {
  const read = typeof token === "string" ? readJws(token) : undefined;
  if (!read) throw new SignInError("The response has no id_token that is a signed JWT");
  const { claims } = read;
  const { iss, sub, aud, azp, exp, iat, at_hash } = claims;
  if (typeof iss !== "string" || !isIssuer(iss, claims)) throw refusal("iss is another issuer");
  const audiences = [aud].flat();
  if (!audiences.includes(clientId)) throw refusal("aud does not name this client");
  if (audiences.length > 1 && azp === undefined || azp !== undefined && azp !== clientId) {
    throw refusal("azp is not this client");
  }
  if (typeof sub !== "string" || sub === "" || sub.length > MAX_SUBJECT_CHARACTERS) {
    throw refusal("sub must be a string of 1 to 255 characters");
  }
  const seconds = now() / 1000;
  if (typeof exp !== "number" || exp <= seconds - CLOCK_SKEW_SECONDS) throw refusal("exp is missing or past");
  if (typeof iat !== "number" || iat > seconds + CLOCK_SKEW_SECONDS) {
    throw refusal("iat is missing or in the future");
  }
  if (typeof claims["nonce"] !== "string" || !equalInConstantTime(claims["nonce"], nonce)) {
    throw refusal("nonce is not the one that was sent");
  }
  const alg = read.header["alg"] as JwsAlgorithm;
  if (at_hash !== undefined && at_hash !== await leftHalfHash(alg, access_token)) {
    throw refusal("at_hash is of another access token");
  }
  const source: KeySource = {
    jwks_uri,
    network: undefined,
    isKnown: true,
    ...(isSigner && { accepts: (key) => isSigner(key, claims) }),
  };
  if (!await verifyBySource({ documents }, source, token as string, undefined, read)) {
    throw refusal("the signature does not verify with any key of the issuer");
  }
  return { ...claims, iss, sub };
}

function refusal(rule: string): SignInError {
  return new SignInError(`The id_token is refused: ${rule}`);
}
