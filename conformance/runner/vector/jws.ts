/**
 * Compact JWS (RFC 7515) with JWK keys: signed for `let`, parsed and verified for `$jwt`. Vectors need
 * invalid ones too, so signing checks nothing.
 *
 * @module
 */
import { fromBase64url, sha256, toBase64url, toText, utf8 } from "../exchange/bytes.ts";
import { KitError } from "../outcome.ts";
import { isJsonObject, type JsonObject } from "./vector_file.ts";

interface Algorithm {
  /** The `kty` of its keys. */
  readonly kty: string;
  readonly make: RsaHashedKeyGenParams | EcKeyGenParams | { name: string };
  readonly use: RsaHashedImportParams | EcKeyImportParams | HmacImportParams | { name: string };
  readonly sign: EcdsaParams | { name: string };
}

const ED25519: Algorithm = {
  kty: "OKP",
  make: { name: "Ed25519" },
  use: { name: "Ed25519" },
  sign: { name: "Ed25519" },
};

const ALGORITHMS: Readonly<Record<string, Algorithm>> = {
  ES256: {
    kty: "EC",
    make: { name: "ECDSA", namedCurve: "P-256" },
    use: { name: "ECDSA", namedCurve: "P-256" },
    sign: { name: "ECDSA", hash: "SHA-256" },
  },
  RS256: {
    kty: "RSA",
    make: {
      name: "RSASSA-PKCS1-v1_5",
      hash: "SHA-256",
      modulusLength: 2048,
      publicExponent: new Uint8Array([1, 0, 1]),
    },
    use: { name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" },
    sign: { name: "RSASSA-PKCS1-v1_5" },
  },
  Ed25519: ED25519,
  // Its older name (RFC 9864).
  EdDSA: ED25519,
  HS256: {
    kty: "oct",
    make: { name: "HMAC" },
    use: { name: "HMAC", hash: "SHA-256" },
    sign: { name: "HMAC" },
  },
};

export interface KeyPair {
  readonly private: JsonWebKey;
  readonly public?: JsonWebKey;
  readonly thumbprint?: string;
}

/** Generates a key for an algorithm. @throws {KitError} for an unsupported algorithm */
export async function generateKey(alg: string): Promise<KeyPair> {
  const algorithm = getAlgorithm(alg);
  if (alg === "HS256") {
    return { private: { kty: "oct", alg, k: toBase64url(crypto.getRandomValues(new Uint8Array(32))) } };
  }
  const pair = await crypto.subtle.generateKey(algorithm.make, true, ["sign", "verify"]) as CryptoKeyPair;
  const whole = await crypto.subtle.exportKey("jwk", pair.privateKey);
  const { kty, crv, x, y, n, e } = whole;
  // The members that RFC 7638 names, in its order.
  const required = kty === "RSA" ? { e, kty, n } : kty === "EC" ? { crv, kty, x, y } : { crv, kty, x };
  const { key_ops: _, ext: __, ...kept } = whole;
  return {
    private: { ...kept, alg },
    public: { ...required, alg } as JsonWebKey,
    thumbprint: toBase64url(await sha256(utf8(JSON.stringify(required)))),
  };
}

/** Signs a compact JWS. Without a key, or with `none`, the signature is empty. */
export async function signJws(header: JsonObject, claims: unknown, key?: JsonWebKey): Promise<string> {
  const alg = header["alg"] ?? key?.alg ?? "none";
  const input = `${encodePart({ alg, ...header })}.${encodePart(claims ?? {})}`;
  if (!key || alg === "none") return `${input}.`;
  // If the header names an algorithm that does not fit the key, the algorithm of the key signs.
  const algorithm = getAlgorithm(fitsKey(String(alg), key) ? String(alg) : key.alg ?? String(alg));
  const signer = await crypto.subtle.importKey("jwk", withoutUse(key), algorithm.use, false, ["sign"]);
  const signature = await crypto.subtle.sign(algorithm.sign, signer, utf8(input));
  return `${input}.${toBase64url(new Uint8Array(signature))}`;
}

/** Header and claims of a compact JWS. `undefined` if the text is not one. */
export function parseJws(text: string): { readonly header: unknown; readonly claims: unknown } | undefined {
  const parts = text.split(".");
  if (parts.length !== 3) return undefined;
  try {
    const [header, claims] = parts.map((each) => toText(fromBase64url(each)));
    return { header: JSON.parse(header!), claims: JSON.parse(claims!) };
  } catch {
    return undefined;
  }
}

/** Whether one of the keys (a JWK Set or a JWK) verifies a compact JWS. */
export async function verifyJws(text: string, keys: unknown): Promise<boolean> {
  const header = parseJws(text)?.header;
  const alg = isJsonObject(header) ? String(header["alg"]) : "none";
  if (!findAlgorithm(alg)) return false;
  const all = isJsonObject(keys) && Array.isArray(keys["keys"])
    ? keys["keys"] as JsonWebKey[]
    : [keys as JsonWebKey];
  const end = text.lastIndexOf(".");
  for (const key of all.filter((each) => isJsonObject(each) && fitsKey(alg, each))) {
    try {
      const { use, sign } = getAlgorithm(alg);
      const verifier = await crypto.subtle.importKey("jwk", withoutUse(key), use, false, ["verify"]);
      const signature = fromBase64url(text.slice(end + 1));
      if (await crypto.subtle.verify(sign, verifier, signature, utf8(text.slice(0, end)))) return true;
    } catch {
      // An invalid key verifies no signature.
    }
  }
  return false;
}

function encodePart(value: unknown): string {
  return toBase64url(utf8(JSON.stringify(value)));
}

function findAlgorithm(alg: string): Algorithm | undefined {
  return Object.hasOwn(ALGORITHMS, alg) ? ALGORITHMS[alg] : undefined;
}

function getAlgorithm(alg: string): Algorithm {
  const found = findAlgorithm(alg);
  if (found) return found;
  throw new KitError(`Unsupported algorithm "${alg}". Supported: ${Object.keys(ALGORITHMS).join(", ")}.`);
}

function fitsKey(alg: string, key: JsonWebKey): boolean {
  return findAlgorithm(alg)?.kty === key.kty && (alg !== "ES256" || key.crv === "P-256");
}

/** Removes members that restrict the use of a key, so that it can be imported. */
function withoutUse({ alg: _, use: __, key_ops: ___, ext: ____, ...key }: JsonWebKey): JsonWebKey {
  return key;
}
