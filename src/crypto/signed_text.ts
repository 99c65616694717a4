/**
 * Texts that anybody can read and only the holder of a secret can make, bound to a purpose: HMAC-SHA-256, without a wait.
 * What nobody else may read is sealed (`seal.ts`).
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { equalInConstantTime } from "./secret.ts";
import { hmacSha256 } from "./sha256.ts";

/** The text and its authentication, in base64url with a dot between them. */
export function signText(key: Uint8Array, purpose: string, text: string): string {
  const payload = encodeBase64url(new TextEncoder().encode(text));
  return `${payload}.${authenticate(key, purpose, payload)}`;
}

/** Longer ones are not looked at: strangers send them, and the work grows with their length. */
const MAX_SIGNED_CHARACTERS = 32_768;

/** The text; `undefined` for what was not made with this key for this purpose. */
export function readSignedText(key: Uint8Array, purpose: string, signed: string): string | undefined {
  if (signed.length > MAX_SIGNED_CHARACTERS) return undefined;
  const dot = signed.indexOf(".");
  const payload = signed.slice(0, Math.max(dot, 0));
  if (!equalInConstantTime(signed.slice(dot + 1), authenticate(key, purpose, payload))) return undefined;
  return new TextDecoder().decode(decodeBase64url(payload));
}

function authenticate(key: Uint8Array, purpose: string, payload: string): string {
  return encodeBase64url(hmacSha256(key, `signed:${purpose}:${payload}`));
}
