/**
 * Secrets that Trivet makes, and how they are kept: 256 random bits behind a prefix that names the kind,
 * stored only as a SHA-256 digest. (A digest is enough for random secrets; passwords are `password.ts`.)
 *
 * @module
 */
import { encodeBase64url } from "./base64url.ts";
import { hmacSha256, sha256 } from "./sha256.ts";

const POOL = 4096;
let pool: Uint8Array<ArrayBuffer> | undefined;
let used = POOL;

/** `length` random bytes. Drawn from the runtime in pages: one call to it costs as much as a page. */
export function randomBytes(length: number): Uint8Array<ArrayBuffer> {
  if (length > POOL) return crypto.getRandomValues(new Uint8Array(length));
  if (used + length > POOL) {
    pool = crypto.getRandomValues(pool ?? new Uint8Array(POOL));
    used = 0;
  }
  const bytes = pool!.slice(used, used + length);
  // What was handed out is not kept.
  pool!.fill(0, used, used + length);
  used += length;
  return bytes;
}

/** A new secret: `prefix` and 43 characters of base64url. The prefix lets secret scanners know a leak. */
export function randomSecret(prefix: string): string {
  return prefix + encodeBase64url(randomBytes(32));
}

/** A secret that only who holds `from` can make again, for the same purpose: as long as a random one. */
export function derivedSecret(from: string, purpose: string): string {
  return encodeBase64url(hmacSha256(new TextEncoder().encode(from), purpose));
}

/** A new identifier: `prefix` and 22 characters of base64url (128 bits). */
export function randomId(prefix: string): string {
  return prefix + encodeBase64url(randomBytes(16));
}

/** What is stored of a secret. */
export function secretDigest(secret: string): string {
  return encodeBase64url(sha256(secret));
}

/** Whether two texts are equal, in a time that tells only their lengths. */
export function equalInConstantTime(a: string, b: string): boolean {
  if (a.length !== b.length) return false;
  let difference = 0;
  for (let i = 0; i < a.length; i++) difference |= a.charCodeAt(i) ^ b.charCodeAt(i);
  return difference === 0;
}
