/**
 * Keys that clients and identity providers of the tests sign with, and what they sign. Nothing but tests imports this.
 *
 * @module
 */
import { encodeBase64url } from "../crypto/base64url.ts";
import { type PublicJwk, thumbprint } from "../crypto/jwk.ts";
import { ALGORITHMS, type JwsAlgorithm } from "../crypto/jws.ts";
import { randomId } from "../crypto/secret.ts";
import { sha256 } from "../crypto/sha256.ts";

export interface TestKey {
  readonly alg: JwsAlgorithm;
  readonly key: CryptoKey;
  readonly jwk: PublicJwk;
  readonly jkt: string;
}

export async function newKey(alg: JwsAlgorithm = "ES256", kid: string = randomId("k")): Promise<TestKey> {
  const { privateKey, publicKey } = await crypto.subtle.generateKey(ALGORITHMS[alg].generate, true, [
    "sign",
    "verify",
  ]) as CryptoKeyPair;
  const { kty, crv, x, y, n, e } = await crypto.subtle.exportKey("jwk", publicKey) as JsonWebKey;
  const jwk: PublicJwk = JSON.parse(JSON.stringify({ kty, crv, x, y, n, e, kid }));
  return { alg, key: privateKey, jwk, jkt: thumbprint(jwk) };
}

/** A JWT with exactly this header and these claims, signed with the key. */
export async function sign(
  { alg, key }: TestKey,
  header: Record<string, unknown>,
  claims: Record<string, unknown>,
): Promise<string> {
  const encode = (value: unknown) => encodeBase64url(new TextEncoder().encode(JSON.stringify(value)));
  const signed = `${encode({ alg, ...header })}.${encode(claims)}`;
  const signature = await crypto.subtle.sign(ALGORITHMS[alg].sign, key, new TextEncoder().encode(signed));
  return `${signed}.${encodeBase64url(new Uint8Array(signature))}`;
}

/** A DPoP proof that is good, but for the members given (RFC 9449 section 4.2); `undefined` leaves one out. */
export function prove(
  key: TestKey,
  url: string,
  { token, header = {}, ...claims }: {
    readonly token?: string;
    readonly header?: Record<string, unknown>;
    readonly [claim: string]: unknown;
  } = {},
): Promise<string> {
  return sign(key, { typ: "dpop+jwt", jwk: key.jwk, ...header }, {
    htm: "POST",
    htu: url,
    iat: Math.floor(Date.now() / 1000),
    jti: randomId(""),
    ...(token !== undefined && { ath: encodeBase64url(sha256(token)) }),
    ...claims,
  });
}

/** A client assertion that is good, but for the members given (RFC 7523 section 3). */
export function assertClient(
  key: TestKey,
  client_id: string,
  issuer: string,
  { header = {}, ...claims }: {
    readonly header?: Record<string, unknown>;
    readonly [claim: string]: unknown;
  } = {},
): Promise<string> {
  const now = Math.floor(Date.now() / 1000);
  return sign(key, { typ: "JWT", kid: key.jwk.kid, ...header }, {
    iss: client_id,
    sub: client_id,
    aud: issuer,
    iat: now,
    exp: now + 60,
    jti: randomId(""),
    ...claims,
  });
}
