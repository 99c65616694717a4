/**
 * Encodes and decodes base64url without padding (RFC 4648 section 5). Node 24 does not have `Uint8Array.prototype.toBase64`.
 *
 * @module
 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-_";
const VALUES = new Int8Array(128).fill(-1);
for (let i = 0; i < 64; i++) VALUES[ALPHABET.charCodeAt(i)] = i;

const CODES = Uint8Array.from(ALPHABET, (letter) => letter.charCodeAt(0));
/** Longer input is encoded in chunks, because engines limit the arguments of a call. A multiple of 3. */
const CHUNK_BYTES = 3072;

/** The bytes as base64url text. Built in large chunks: strings that are concatenated of short ones take five times the memory. */
export function encodeBase64url(bytes: Uint8Array): string {
  if (bytes.length <= CHUNK_BYTES) return encodeChunk(bytes);
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK_BYTES) {
    text += encodeChunk(bytes.subarray(at, at + CHUNK_BYTES));
  }
  return text;
}

function encodeChunk(bytes: Uint8Array): string {
  const { length } = bytes;
  // Of the final length from the start: twice as fast as an array that grows.
  const codes = new Array<number>(Math.ceil(length * 4 / 3));
  for (let i = 0, at = 0; i < length; i += 3) {
    const n = bytes[i]! << 16 | (bytes[i + 1] ?? 0) << 8 | (bytes[i + 2] ?? 0);
    codes[at++] = CODES[n >> 18]!;
    codes[at++] = CODES[n >> 12 & 63]!;
    if (i + 1 < length) codes[at++] = CODES[n >> 6 & 63]!;
    if (i + 2 < length) codes[at++] = CODES[n & 63]!;
  }
  return String.fromCharCode.apply(null, codes);
}

/** UTF-8 text as base64url text. ASCII by the runtime: 0.3 microseconds instead of 1.2 for the 100 characters of a session. */
export function encodeTextBase64url(text: string): string {
  if (!/^[\0-\x7f]*$/.test(text)) return encodeBase64url(new TextEncoder().encode(text));
  return btoa(text).replaceAll("+", "-").replaceAll("/", "_").replaceAll("=", "");
}

/** The decoded bytes; `undefined` for padding, other characters, and trailing bits that are not zero. */
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
  // RFC 4648 section 3.5: unused bits must be zero, otherwise one value would have several encodings.
  return (buffer & (1 << bits) - 1) === 0 ? bytes : undefined;
}
