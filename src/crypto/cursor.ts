/**
 * Cursors of lists: where a page ended and for which list, authenticated, so that one cannot be made up, changed or
 * carried to another list.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "./base64url.ts";
import { equalInConstantTime } from "./secret.ts";
import { hmacSha256 } from "./sha256.ts";

/** The position and its authentication, in base64url. `purpose` names the list, its owner and its filter. */
export function writeCursor(key: Uint8Array, purpose: string, position: readonly string[]): string {
  const payload = encodeBase64url(new TextEncoder().encode(JSON.stringify(position)));
  return `${payload}.${authenticate(key, purpose, payload)}`;
}

/** The position; `undefined` for a cursor that was not made for this list. */
export function readCursor(key: Uint8Array, purpose: string, cursor: string): string[] | undefined {
  const [payload = "", mac = "", ...more] = cursor.split(".");
  const good = more.length === 0 && equalInConstantTime(mac, authenticate(key, purpose, payload));
  return good ? JSON.parse(new TextDecoder().decode(decodeBase64url(payload))) : undefined;
}

function authenticate(key: Uint8Array, purpose: string, payload: string): string {
  return encodeBase64url(hmacSha256(key, `cursor:${purpose}:${payload}`).subarray(0, 16));
}
