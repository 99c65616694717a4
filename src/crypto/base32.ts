/**
 * Base32 (https://www.rfc-editor.org/rfc/rfc4648#section-6), for secrets and codes that people type.
 *
 * @module
 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567";

/** Upper case, without padding. */
export function toBase32(bytes: Uint8Array): string {
  let text = "";
  let bits = 0;
  let value = 0;
  for (const byte of bytes) {
    value = (value << 8 | byte) & 0xfff;
    bits += 8;
    for (; bits >= 5; bits -= 5) text += ALPHABET[value >> bits - 5 & 31];
  }
  return bits > 0 ? text + ALPHABET[value << 5 - bits & 31] : text;
}

/** The bytes, without padding and in either case; `undefined` for other characters. */
export function fromBase32(text: string): Uint8Array | undefined {
  const bytes: number[] = [];
  let bits = 0;
  let value = 0;
  for (const character of text.toUpperCase()) {
    const digit = ALPHABET.indexOf(character);
    if (digit < 0) return undefined;
    value = (value << 5 | digit) & 0xfff;
    bits += 5;
    if (bits < 8) continue;
    bits -= 8;
    bytes.push(value >> bits & 255);
  }
  return Uint8Array.from(bytes);
}
