/**
 * Keys of clients and identity providers, and the JWTs that they sign. Only tests import this.
 *
 * @module
 */
import { encodeBase64url } from "../crypto/base64url.ts";
import { type PrivateJwk, type PublicJwk, thumbprint } from "../crypto/jwk.ts";
import { ALGORITHMS, type JwsAlgorithm } from "../crypto/jws.ts";
import { randomId } from "../crypto/secret.ts";
import { sha256 } from "../crypto/sha256.ts";
import { putIfAbsent, type Store } from "../store/store.ts";
import { type SigningKey, signingKeyKey } from "./records/token_record.ts";
import { generateSigningKey } from "./tokens/signing_keys.ts";

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

/** One for all servers: Deno needs half a second to make one. The value is kept, because on Workers a promise ends with its request. */
let rsaKey: { readonly kid: string; readonly jwk: PrivateJwk } | undefined;

/** Gives a new store its first signing key for RS256. @param created milliseconds since the epoch */
export async function addRsaSigningKey(store: Store, created: number): Promise<void> {
  rsaKey ??= await generateSigningKey("RS256");
  const value: SigningKey = { ...rsaKey, alg: "RS256", generation: 0, created, starts: created };
  await putIfAbsent(store, signingKeyKey("RS256", 0), value);
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

/** A valid DPoP proof, except for the given members (RFC 9449 section 4.2); `undefined` omits one. */
export function createProof(
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

/** A valid client assertion, except for the given members (RFC 7523 section 3). */
export function createAssertion(
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

/**
 * openssl req -x509 -newkey ec -pkeyopt ec_paramgen_curve:P-256 -nodes -days 36500 -subj "/C=DE/O=Example, Inc./OU=A"
 *   -addext "subjectAltName=DNS:client.example,URI:https://client.example/id,IP:192.0.2.7,IP:2001:db8::7,email:ops@client.example"
 */
export const PEM = `-----BEGIN CERTIFICATE-----
MIICHDCCAcOgAwIBAgIUaiOeDrdJCSwXglvyXw/QxZAA8f0wCgYIKoZIzj0EAwIw
MTELMAkGA1UEBhMCREUxFjAUBgNVBAoMDUV4YW1wbGUsIEluYy4xCjAIBgNVBAsM
AUEwIBcNMjYxMTIxMDcwNjQzWhgPMjEyNjEwMjgwNzA2NDNaMDExCzAJBgNVBAYT
AkRFMRYwFAYDVQQKDA1FeGFtcGxlLCBJbmMuMQowCAYDVQQLDAFBMFkwEwYHKoZI
zj0CAQYIKoZIzj0DAQcDQgAEObgUPjYZtopEDdjV4aWUsUUVrUm0USEhJhtuiAsi
nTlO7jnOJ366o0mcYFX+EBsNynuU6cf4ro8KknZewsW7jqOBtjCBszAdBgNVHQ4E
FgQUop7Ma9vJ6/HP1nh3BYrz2tjbvFQwHwYDVR0jBBgwFoAUop7Ma9vJ6/HP1nh3
BYrz2tjbvFQwDwYDVR0TAQH/BAUwAwEB/zBgBgNVHREEWTBXgg5jbGllbnQuZXhh
bXBsZYYZaHR0cHM6Ly9jbGllbnQuZXhhbXBsZS9pZIcEwAACB4cQIAENuAAAAAAA
AAAAAAAAB4ESb3BzQGNsaWVudC5leGFtcGxlMAoGCCqGSM49BAMCA0cAMEQCIC0F
QNu4GLy9nWCZ399qn6B90wipSEZAApGXQbGyvALeAiBpmToLoXWpk5CWD1itX+rG
TaEs45AeLZt9RxkLsBmEGw==
-----END CERTIFICATE-----
`;
/** As openssl computes it. */
export const THUMBPRINT = "xkcIpEmq0ugPZg30eQ87-wCsi6IAtAHi7NHhSU5G0TY";
/** The certificate as a byte sequence (RFC 9440 section 2.2). */
export const SEQUENCE: string = ":" + PEM.replace(/-----[^-]+-----|\s/g, "") + ":";
