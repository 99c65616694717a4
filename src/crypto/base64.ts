/**
 * Encodes and decodes base64 (RFC 4648 section 4) of any size. Node 24 does not have `Uint8Array.fromBase64` and `toBase64`.
 *
 * @module
 */

const ALPHABET = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
const PADDING = 61;
/** For 12 bits: their two characters, the first in the lower byte. All runtimes are little-endian. Filled at first use. */
const PAIRS = new Uint16Array(4096);
const decoder = new TextDecoder();

/** Base64 with padding. For 8 MB, `btoa(String.fromCharCode(…))` takes 600 ms on Node 24, this loop 30. */
export function encodeBase64(bytes: Uint8Array): string {
  if (PAIRS[0] === 0) fillPairs();
  const { length } = bytes;
  const pairs = new Uint16Array(2 * Math.ceil(length / 3));
  for (let from = 0, to = 0; from < length; from += 3) {
    // Beyond the end a byte is undefined, which counts as 0.
    const bits = bytes[from]! << 16 | bytes[from + 1]! << 8 | bytes[from + 2]!;
    pairs[to++] = PAIRS[bits >> 12]!;
    pairs[to++] = PAIRS[bits & 4095]!;
  }
  const codes = new Uint8Array(pairs.buffer);
  codes.fill(PADDING, codes.length - (3 - length % 3) % 3);
  return decoder.decode(codes);
}

function fillPairs(): void {
  for (let bits = 0; bits < PAIRS.length; bits++) {
    PAIRS[bits] = ALPHABET.charCodeAt(bits >> 6) | ALPHABET.charCodeAt(bits & 63) << 8;
  }
}

/**
 * The decoded bytes. `Uint8Array.from(atob(text), …)` takes 500 ms for 4 MB on Node 24, this loop 25.
 * @throws {DOMException} when the text is not base64
 */
export function decodeBase64(text: string): Uint8Array<ArrayBuffer> {
  const binary = atob(text);
  const bytes = new Uint8Array(binary.length);
  for (let at = 0; at < bytes.length; at++) bytes[at] = binary.charCodeAt(at);
  return bytes;
}
