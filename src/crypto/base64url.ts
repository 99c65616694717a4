/**
 * base64url without padding, both ways (https://www.rfc-editor.org/rfc/rfc4648#section-5).
 * Node 24 has no `Uint8Array.prototype.toBase64` yet, hence by hand.
 *
 * @module
 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < 64; i++) VALUES[ALPHABET.charCodeAt(i)] = i;

/** Two letters for every 12 bits: half the steps, where tokens and digests are most of what is encoded. */
const PAIRS: string[] = [];
for (const a of ALPHABET) for (const b of ALPHABET) PAIRS.push(a + b);

/** The bytes as base64url text. */
export function encodeBase64url(bytes: Uint8Array): string {
  let text = "";
  let i = 0;
  for (; i + 2 < bytes.length; i += 3) {
    const n = bytes[i]! << 16 | bytes[i + 1]! << 8 | bytes[i + 2]!;
    text += PAIRS[n >> 12]! + PAIRS[n & 4095]!;
  }
  if (i + 1 === bytes.length) text += PAIRS[bytes[i]! << 4]!;
  else if (i + 2 === bytes.length) {
    const n = bytes[i]! << 16 | bytes[i + 1]! << 8;
    text += PAIRS[n >> 12]! + ALPHABET[n >> 6 & 63]!;
  }
  return text;
}

/** The bytes of base64url text, or `undefined` when it is none: padding, other letters, stray bits. */
export function decodeBase64url(text: string): Uint8Array<ArrayBuffer> | undefined {
  const tail = text.length % 4;
  if (tail === 1) return undefined;
  const bytes = new Uint8Array((text.length * 3) >> 2);
  let buffer = 0;
  let bits = 0;
  let at = 0;
  for (let i = 0; i < text.length; i++) {
    const code = text.charCodeAt(i);
    const value = code < 128 ? VALUES[code]! : -1;
    if (value < 0) return undefined;
    buffer = (buffer << 6 | value) & 0xffff;
    bits += 6;
    if (bits >= 8) {
      bits -= 8;
      bytes[at++] = buffer >> bits & 0xff;
    }
  }
  // RFC 4648 §3.5: bits that encode nothing must be zero, else one value had several spellings.
  return (buffer & (1 << bits) - 1) === 0 ? bytes : undefined;
}
