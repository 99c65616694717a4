/**
 * Identifiers that sort by creation time, so that a list by key is a list by age.
 *
 * @module
 */
import { randomBytes } from "../crypto/secret.ts";

/** Crockford's base 32: without letters that look like digits. */
export const CROCKFORD_BASE32 = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** The common prefix of all identifiers of one millisecond. */
export function identifierPrefix(kind: "skill" | "skver", now: number): string {
  let time = "";
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) {
    time = CROCKFORD_BASE32[rest % 32]! + time;
  }
  return `${kind}_01${time}`;
}

/** `<kind>_01`, ten characters of milliseconds and fourteen random ones (70 bits). */
export function newIdentifier(kind: "skill" | "skver", now: number): string {
  let random = "";
  for (const byte of randomBytes(14)) random += CROCKFORD_BASE32[byte & 31]!;
  return identifierPrefix(kind, now) + random;
}
