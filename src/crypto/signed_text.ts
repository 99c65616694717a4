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
  return signToken({ current }, purpose, encodeTextBase64url(text));
}

/** As {@linkcode signText}, for a text that is sent as it is: visible ASCII without a colon. */
export function signToken(
  { current }: Pick<ServerSecrets, "current">,
  purpose: string,
  text: string,
): string {
  return `${text}.${authenticate(current, purpose, text)}`;
}

/** Longer input is refused: it is untrusted, and the work grows with its length. */
const MAX_SIGNED_CHARACTERS = 32_768;

/** The text, if it was signed with one of these secrets for this purpose; otherwise `undefined`. */
export function readSignedText(secrets: ServerSecrets, purpose: string, signed: string): string | undefined {
  const payload = readSignedToken(secrets, purpose, signed);
  return payload === undefined ? undefined : new TextDecoder().decode(decodeBase64url(payload));
}

/** As {@linkcode readSignedText}, for a text of {@linkcode signToken}. */
export function readSignedToken(
  { accepted }: ServerSecrets,
  purpose: string,
  signed: string,
): string | undefined {
  if (signed.length > MAX_SIGNED_CHARACTERS) return undefined;
  const dot = signed.lastIndexOf(".");
  const payload = signed.slice(0, Math.max(dot, 0));
  const code = signed.slice(dot + 1);
  return accepted.some((secret) => equalInConstantTime(code, authenticate(secret, purpose, payload)))
    ? payload
    : undefined;
}

/** By secret, which is the same `Uint8Array` in every call (`FindSecrets`). */
const keyed = new WeakMap<Uint8Array, ReturnType<typeof createHmacSha256>>();

function authenticate(secret: Uint8Array, purpose: string, payload: string): string {
  let hmac = keyed.get(secret);
  if (!hmac) keyed.set(secret, hmac = createHmacSha256(secret));
  return encodeBase64url(hmac(`signed:${purpose}:${payload}`));
}
