/**
 * Signs text with HMAC-SHA-256 for one purpose, synchronously. Everyone can read the text, but only the holder of the secret
 * can create it. To hide the text too, use `seal.ts`.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url, encodeTextBase64url } from "./base64url.ts";
import { equalInConstantTime } from "./secret.ts";
import type { ServerSecrets } from "./server_secrets.ts";
import { createHmacSha256 } from "./sha256.ts";

/** The text and its authentication code, both base64url, separated by a dot. */
export function signText({ current }: ServerSecrets, purpose: string, text: string): string {
  const payload = encodeTextBase64url(text);
  return `${payload}.${authenticate(current, purpose, payload)}`;
}

/** Longer input is refused: it is untrusted, and the work grows with its length. */
const MAX_SIGNED_CHARACTERS = 32_768;

/** The text, if it was signed with one of these secrets for this purpose; otherwise `undefined`. */
export function readSignedText(
  { accepted }: ServerSecrets,
  purpose: string,
  signed: string,
): string | undefined {
  if (signed.length > MAX_SIGNED_CHARACTERS) return undefined;
  const dot = signed.indexOf(".");
  const payload = signed.slice(0, Math.max(dot, 0));
  const code = signed.slice(dot + 1);
  if (!accepted.some((secret) => equalInConstantTime(code, authenticate(secret, purpose, payload)))) {
    return undefined;
  }
  return new TextDecoder().decode(decodeBase64url(payload));
}

/** By secret, which is the same `Uint8Array` in every call (`FindSecrets`). */
const keyed = new WeakMap<Uint8Array, ReturnType<typeof createHmacSha256>>();

function authenticate(secret: Uint8Array, purpose: string, payload: string): string {
  let hmac = keyed.get(secret);
  if (!hmac) keyed.set(secret, hmac = createHmacSha256(secret));
  return encodeBase64url(hmac(`signed:${purpose}:${payload}`));
}
