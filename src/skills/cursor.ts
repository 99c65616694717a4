/**
 * Cursors of lists: where a page ended, for whom and under which filter, authenticated, so that one cannot be made
 * up, changed or carried to another workspace.
 *
 * @module
 */
import { decodeBase64url, encodeBase64url } from "../crypto/base64url.ts";
import { equalInConstantTime } from "../crypto/secret.ts";
import { hmacSha256 } from "../crypto/sha256.ts";
import { SkillError } from "./error.ts";

const PREFIX = "page_";

/** `page_`, the position and its authentication, in base64url. */
export function writeCursor(key: Uint8Array, purpose: string, position: readonly string[]): string {
  const payload = encodeBase64url(new TextEncoder().encode(JSON.stringify(position)));
  return `${PREFIX}${payload}.${authenticate(key, purpose, payload)}`;
}

/** The position. @throws {SkillError} for a cursor that was not made for this list */
export function readCursor(key: Uint8Array, purpose: string, cursor: string): string[] {
  const [payload = "", mac = "", ...more] = cursor.slice(PREFIX.length).split(".");
  const good = cursor.startsWith(PREFIX) && more.length === 0 &&
    equalInConstantTime(mac, authenticate(key, purpose, payload));
  if (!good) {
    throw new SkillError(
      "invalid_request_error",
      "page must be the next_page of a list with the same filters",
    );
  }
  return JSON.parse(new TextDecoder().decode(decodeBase64url(payload)));
}

function authenticate(key: Uint8Array, purpose: string, payload: string): string {
  return encodeBase64url(hmacSha256(key, `cursor:${purpose}:${payload}`).subarray(0, 16));
}
