/**
 * Texts that only the holder of a secret can read or make: AES-256-GCM under a key derived from the secret
 * and bound to a purpose, so that what was sealed for one use cannot be opened as another.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { randomBytes } from "./secret.ts";
import { hmacSha256 } from "./sha256.ts";

const NONCE = 12;

/** The text, encrypted and authenticated, as base64url. */
export async function seal(secret: Uint8Array, purpose: string, text: string): Promise<string> {
  const nonce = randomBytes(NONCE);
  const key = await deriveKey(secret, purpose);
  const sealed = await crypto.subtle.encrypt(
    { name: "AES-GCM", iv: nonce },
    key,
    new TextEncoder().encode(text),
  );
  const bytes = new Uint8Array(NONCE + sealed.byteLength);
  bytes.set(nonce);
  bytes.set(new Uint8Array(sealed), NONCE);
  return encodeBase64url(bytes);
}

/** The text that was sealed with this secret for this purpose; `undefined` for anything else. */
export async function unseal(
  secret: Uint8Array,
  purpose: string,
  sealed: string,
): Promise<string | undefined> {
  const bytes = decodeBase64url(sealed);
  if (bytes === undefined || bytes.length <= NONCE) return undefined;
  const key = await deriveKey(secret, purpose);
  try {
    const iv = bytes.subarray(0, NONCE);
    const text = await crypto.subtle.decrypt({ name: "AES-GCM", iv }, key, bytes.subarray(NONCE));
    return new TextDecoder().decode(text);
  } catch {
    return undefined;
  }
}

function deriveKey(secret: Uint8Array, purpose: string): Promise<CryptoKey> {
  return crypto.subtle.importKey("raw", hmacSha256(secret, "seal:" + purpose), "AES-GCM", false, [
    "encrypt",
    "decrypt",
  ]);
}
