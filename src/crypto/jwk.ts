/**
 * Public keys as JSON Web Keys (RFC 7517): checks untrusted keys, computes thumbprints, and imports keys for verification.
 *
 * @module
 */
import { encodeBase64url } from "./base64url.ts";
import { ALGORITHMS, type JwsAlgorithm, type JwsKey } from "./jws.ts";
import { sha256 } from "./sha256.ts";

/** The required public members of a key, and the members for its use. */
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
  /** Of Microsoft Entra ID: whose tokens it signs. */
  readonly issuer?: string;
}

/** A key with its private members (RFC 7518 section 6). */
export type PrivateJwk = PublicJwk & Readonly<Partial<Record<"d" | "p" | "q" | "dp" | "dq" | "qi", string>>>;

/** The required members of each key type, in lexicographic order (RFC 7638 section 3.2). */
const REQUIRED: Readonly<Record<string, readonly (keyof PublicJwk)[]>> = {
  EC: ["crv", "kty", "x", "y"],
  OKP: ["crv", "kty", "x"],
  RSA: ["e", "kty", "n"],
};
/** Members of private and symmetric keys (RFC 7518 section 6). */
const PRIVATE_MEMBERS = ["d", "p", "q", "dp", "dq", "qi", "oth", "k"];
const BASE64URL = /^[A-Za-z0-9_-]+$/;
/** A modulus of 2048 bits, the minimum of RFC 7518 section 3.3. */
const MIN_MODULUS_CHARACTERS = 342;
/** A modulus of 8192 bits. With a longer one, verification takes too long. */
const MAX_MODULUS_CHARACTERS = 1366;

/** The key, if it is public and its type is supported; otherwise the rule that it breaks. */
export function checkJwk(value: unknown): PublicJwk | string {
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    return "a key must be a JSON object";
  }
  const jwk = value as Record<string, unknown>;
  if (PRIVATE_MEMBERS.some((name) => name in jwk)) {
    return "a key must be public, without private or symmetric members";
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
    return "a key must be P-256 (ES256), Ed25519 (Ed25519, EdDSA), or RSA with 2048 to 8192 bits (RS256, PS256)";
  }
  const kept = [...names, "kid", "alg", "use", "issuer"].filter((name) => typeof jwk[name] === "string");
  return Object.fromEntries(kept.map((name) => [name, jwk[name]])) as unknown as PublicJwk;
}

/** The algorithms that the key can verify. */
export function algorithmsOf({ kty, crv, n = "" }: PublicJwk): readonly JwsAlgorithm[] {
  if (kty === "EC" && crv === "P-256") return ["ES256"];
  if (kty === "OKP" && crv === "Ed25519") return ["Ed25519", "EdDSA"];
  if (kty === "RSA" && n.length >= MIN_MODULUS_CHARACTERS && n.length <= MAX_MODULUS_CHARACTERS) {
    return ["RS256", "PS256"];
  }
  return [];
}

/** The SHA-256 thumbprint (RFC 7638): equal for all representations of a key. */
export function thumbprint(jwk: PublicJwk): string {
  const required = (REQUIRED[jwk.kty] ?? []).map((name) => [name, jwk[name]]);
  return encodeBase64url(sha256(JSON.stringify(Object.fromEntries(required))));
}

/** Imports the key to verify signatures of `alg`. Rejects for an invalid key. */
export async function importPublicJwk(jwk: PublicJwk, alg: JwsAlgorithm): Promise<JwsKey> {
  const members = Object.fromEntries((REQUIRED[jwk.kty] ?? []).map((name) => [name, jwk[name]]));
  const key = await crypto.subtle.importKey("jwk", members as JsonWebKey, ALGORITHMS[alg].key, false, [
    "verify",
  ]);
  return { kid: jwk.kid ?? "", alg, key };
}
