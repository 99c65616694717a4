/**
 * Public keys as JSON (https://www.rfc-editor.org/rfc/rfc7517): checking one that a stranger gave, naming it by its
 * thumbprint, and making it ready to verify with.
 *
 * @module
 */
import { encodeBase64url } from "./base64url.ts";
import { ALGORITHMS, type JwsAlgorithm, type JwsKey } from "./jws.ts";
import { sha256 } from "./sha256.ts";

/** The required public members of a key, and what says how it is to be used. */
export interface PublicJwk {
  readonly kty: string;
  readonly crv?: string;
  readonly x?: string;
  readonly y?: string;
  readonly n?: string;
  readonly e?: string;
  readonly kid?: string;
  readonly alg?: string;
  readonly use?: string;
}

/** RFC 7638 §3.2: the required members of each type, in lexicographic order. */
const REQUIRED: Readonly<Record<string, readonly (keyof PublicJwk)[]>> = {
  EC: ["crv", "kty", "x", "y"],
  OKP: ["crv", "kty", "x"],
  RSA: ["e", "kty", "n"],
};
/** Of which key has one is private or shared: RFC 7518 §6. */
const PRIVATE = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** Characters of a modulus of 2048 bits: RFC 7518 §3.3 allows none below. */
const SHORTEST_MODULUS = 342;
/** A longer one makes a verification costly. */
const LONGEST_MODULUS = 1366;

/** The key, when it is public and of a kind that this server verifies with; else what is wrong with it. */
export function checkJwk(value: unknown): PublicJwk | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return "a key must be a JSON object";
  }
  const jwk = value as Record<string, unknown>;
  if (PRIVATE.some((name) => name in jwk)) {
    return "a key must be public, and this one has a private or shared part";
  }
  const names = typeof jwk.kty === "string" && Object.hasOwn(REQUIRED, jwk.kty)
    ? REQUIRED[jwk.kty]!
    : undefined;
  if (!names) return "kty must be EC, OKP or RSA";
  for (const name of names) {
    const member = jwk[name];
    if (typeof member !== "string" || name !== "kty" && name !== "crv" && !BASE64URL.test(member)) {
      return `${name} must be base64url`;
    }
  }
  if (algorithmsOf(jwk as unknown as PublicJwk).length === 0) {
    return "a key must be of P-256 (ES256), Ed25519 (EdDSA), or RSA with 2048 to 8192 bits (RS256, PS256)";
  }
  const kept = [...names, "kid", "alg", "use"].filter((name) => typeof jwk[name] === "string");
  return Object.fromEntries(kept.map((name) => [name, jwk[name]])) as unknown as PublicJwk;
}

/** What the key may verify. */
export function algorithmsOf({ kty, crv, n = "" }: PublicJwk): readonly JwsAlgorithm[] {
  if (kty === "EC" && crv === "P-256") return ["ES256"];
  if (kty === "OKP" && crv === "Ed25519") return ["EdDSA"];
  if (kty === "RSA" && n.length >= SHORTEST_MODULUS && n.length <= LONGEST_MODULUS) return ["RS256", "PS256"];
  return [];
}

/** The SHA-256 thumbprint (RFC 7638): the same for every spelling of one key. */
export function thumbprint(jwk: PublicJwk): string {
  const required = (REQUIRED[jwk.kty] ?? []).map((name) => [name, jwk[name]]);
  return encodeBase64url(sha256(JSON.stringify(Object.fromEntries(required))));
}

/** The key, to verify with as `alg`. Rejects when its numbers are no key. */
export async function importPublicJwk(jwk: PublicJwk, alg: JwsAlgorithm): Promise<JwsKey> {
  const members = Object.fromEntries((REQUIRED[jwk.kty] ?? []).map((name) => [name, jwk[name]]));
  const key = await crypto.subtle.importKey("jwk", members as JsonWebKey, ALGORITHMS[alg].key, false, [
    "verify",
  ]);
  return { kid: jwk.kid ?? "", alg, key };
}
