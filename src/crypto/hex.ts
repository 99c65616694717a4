/**
 * Bytes as hexadecimal digits (RFC 4648 section 8), in lower case.
 *
 * @module
 */

/** Two lower-case digits for each byte. */
export function toHex(bytes: Uint8Array): string {
  return Array.from(bytes, (byte) => byte.toString(16).padStart(2, "0")).join("");
}
