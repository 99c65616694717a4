/**
 * Identifiers that order by the time of their making, so that a list by key is a list by age.
 *
 * @module
 */
import { randomBytes } from "../crypto/secret.ts";

/** Crockford's base 32: no letter is taken for a digit. */
const ALPHABET = "0123456789ABCDEFGHJKMNPQRSTVWXYZ";

/** What every identifier of one millisecond begins with. */
export function identifierPrefix(kind: "skill" | "skver", now: number): string {
  let time = "";
  for (let rest = now, i = 0; i < 10; i++, rest = Math.floor(rest / 32)) time = ALPHABET[rest % 32]! + time;
  return `${kind}_01${time}`;
}

/** `<kind>_01`, ten characters of milliseconds and fourteen random ones (70 bits). */
export function newIdentifier(kind: "skill" | "skver", now: number): string {
  let random = "";
  for (const byte of randomBytes(14)) random += ALPHABET[byte & 31]!;
  return identifierPrefix(kind, now) + random;
}
