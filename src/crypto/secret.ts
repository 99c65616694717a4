/**
 * Creates and compares secrets: 256 random bits with a prefix for the kind, stored only as a SHA-256 digest. A digest is
 * sufficient for random secrets; for passwords see `password.ts`.
 *
 * @module
 */
import { encodeBase64url } from "./base64url.ts";
import { randomBytes } from "./random_bytes.ts";
import { hmacSha256, sha256 } from "./sha256.ts";

export { randomBytes };

/** A new secret: `prefix` and 43 characters of base64url. Secret scanners recognize the prefix. */
export function randomSecret(prefix: string): string {
  return prefix + encodeBase64url(randomBytes(32));
}

/**
 * A secret of the same length, derived from `from` for a purpose. Only a holder of `from` can compute it, if that has at most
 * 64 bytes: of a longer one its SHA-256 is enough (RFC 2104 section 2).
 */
export function derivedSecret(from: string, purpose: string): string {
  return encodeBase64url(hmacSha256(from, purpose));
}

/** A new identifier: `prefix` and 22 characters of base64url (128 bits). */
export function randomId(prefix: string): string {
  return prefix + encodeBase64url(randomBytes(16));
}

let digest = (text: string): string => encodeBase64url(sha256(text));

/** Uses another function for {@linkcode secretDigest} from now on: SHA-256 of UTF-8, as base64url. */
export function useDigest(native: typeof digest): void {
  digest = native;
}

/** The digest of a secret, which is stored instead of it. */
export function secretDigest(secret: string): string {
  return digest(secret);
}

/** Whether two texts are equal. The time depends only on their lengths. */
export function equalInConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
