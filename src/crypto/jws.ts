/**
 * Compact JWS (RFC 7515 section 7.1): signs and verifies JSON claims. The key determines the algorithm, never the header;
 * `jwk`, `jku` and `x5u` in a header are ignored (RFC 8725 section 3.1).
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";

/** Not by its name: with Node's types alone, the global `CryptoKey` is a value but no type. */
type WebCryptoKey = Parameters<typeof crypto.subtle.verify>[1];

/** A key and its only algorithm. */
export interface JwsKey {
  readonly kid: string;
  readonly alg: JwsAlgorithm;
  readonly key: WebCryptoKey;
}

/**
 * A signature algorithm (RFC 7518 section 3.1). `EdDSA`, which does not say which curve (RFC 8037 section 3.1), is the older
 * name of `Ed25519` (RFC 9864 section 2.2): the same signatures.
 */
export type JwsAlgorithm = "ES256" | "Ed25519" | "EdDSA" | "RS256" | "PS256";

/** The supported algorithms, the preferred first. All use public keys; `none` and HMAC are not supported. */
export const JWS_ALGORITHMS: readonly JwsAlgorithm[] = ["ES256", "Ed25519", "EdDSA", "RS256", "PS256"];

/** What Web Crypto requires for one of the algorithms; each reads the members that it needs. */
interface WebCryptoParameters {
  readonly key: { name: string; namedCurve: string; hash: string };
  readonly sign: { name: string; hash: string; saltLength: number };
  readonly generate: WebCryptoParameters["key"] & {
    modulusLength: number;
    publicExponent: Uint8Array<ArrayBuffer>;
  };
}

const ED25519 = algorithm({ name: "Ed25519" }, { name: "Ed25519" });

/** The Web Crypto parameters of each algorithm. */
export const ALGORITHMS: Readonly<Record<JwsAlgorithm, WebCryptoParameters>> = {
  ES256: algorithm({ name: "ECDSA", namedCurve: "P-256" }, { name: "ECDSA", hash: "SHA-256" }),
  Ed25519: ED25519,
  EdDSA: ED25519,
  RS256: algorithm({ name: "RSASSA-PKCS1-v1_5", hash: "SHA-256" }, { name: "RSASSA-PKCS1-v1_5" }),
  PS256: algorithm({ name: "RSA-PSS", hash: "SHA-256" }, { name: "RSA-PSS", saltLength: 32 }),
};

/** Merges the parameter types, which Web Crypto distinguishes by algorithm. */
function algorithm(key: object, sign: object): WebCryptoParameters {
  const rsa = { modulusLength: 2048, publicExponent: new Uint8Array([1, 0, 1]) };
  return { key, sign, generate: { ...rsa, ...key } } as WebCryptoParameters;
}

export type Claims = Readonly<Record<string, unknown>>;

const encoder = new TextEncoder();
const decoder = new TextDecoder("utf-8", { fatal: true });

/** Signs the claims. The header has `alg` and `kid` of the key, and `typ`. */
export async function signJws({ kid, alg, key }: JwsKey, typ: string, claims: Claims): Promise<string> {
  const header = encodeBase64url(encoder.encode(JSON.stringify({ alg, kid, typ })));
  const signed = header + "." + encodeBase64url(encoder.encode(JSON.stringify(claims)));
  const signature = await crypto.subtle.sign(ALGORITHMS[alg].sign, key, encoder.encode(signed));
  return signed + "." + encodeBase64url(new Uint8Array(signature));
}

/** The header and claims of a JWS, not verified; `undefined` for a malformed token. */
export function readJws(token: string): { header: Claims; claims: Claims } | undefined {
  const parts = token.split(".");
  if (parts.length !== 3) return undefined;
  const header = parseObject(parts[0]!);
  const claims = parseObject(parts[1]!);
  return header && claims && { header, claims };
}

/**
 * The claims of a token with a valid signature of this key and this `typ` (any `typ` if `undefined`); otherwise `undefined`.
 * @param read the result of {@linkcode readJws} for this token, if it was read before
 */
export async function verifyJws(
  { alg, key }: JwsKey,
  typ: string | undefined,
  token: string,
  read: ReturnType<typeof readJws> = readJws(token),
): Promise<Claims | undefined> {
  if (!read || read.header.alg !== alg || typ !== undefined && !hasType(read.header.typ, typ)) {
    return undefined;
  }
  // RFC 7515 section 4.1.11: no critical extension is supported.
  if ("crit" in read.header) return undefined;
  const end = token.lastIndexOf(".");
  const signature = decodeBase64url(token.slice(end + 1));
  if (!signature) return undefined;
  const valid = await crypto.subtle.verify(
    ALGORITHMS[alg].sign,
    key,
    signature,
    encoder.encode(token.slice(0, end)),
  );
  return valid ? read.claims : undefined;
}

/** Whether the length of the signature is right for this algorithm. The signature is not verified. */
export function hasSignature(token: string, alg: JwsAlgorithm): boolean {
  const { length = 0 } = decodeBase64url(token.slice(token.lastIndexOf(".") + 1)) ?? {};
  // RSA keys have at least 2048 bits; RFC 7518 section 3.4 and RFC 8032 for the others.
  return alg === "RS256" || alg === "PS256" ? length >= 256 : length === 64;
}

/** Whether a `typ` is this type. RFC 7515 section 4.1.9: case is ignored, and `application/` may be omitted. */
export function hasType(found: unknown, typ: string): boolean {
  return typeof found === "string" && found.toLowerCase().replace(/^application\//, "") === typ;
}

function parseObject(part: string): Claims | undefined {
  const bytes = decodeBase64url(part);
  if (!bytes) return undefined;
  try {
    const value: unknown = JSON.parse(decoder.decode(bytes));
    return typeof value === "object" && value !== null && !Array.isArray(value) ? value as Claims : undefined;
  } catch {
    return undefined;
  }
}
