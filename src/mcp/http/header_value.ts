/**
 * Decodes values of `Mcp-Name` and `Mcp-Param-*`: plain, or base64 of UTF-8 between `=?base64?` and `?=`
 * (https://modelcontextprotocol.io/specification/draft/basic/transports/streamable-http#value-encoding).
 *
 * @module
 */

const PREFIX = "=?base64?";
const SUFFIX = "?=";
const strictUtf8 = new TextDecoder("utf-8", { fatal: true, ignoreBOM: true });

/** The value; `undefined` for an invalid encoding or a character that is not allowed in a field. */
export function decodeHeaderValue(field: string): string | undefined {
  if (!field.startsWith(PREFIX) || !field.endsWith(SUFFIX) || field.length < PREFIX.length + SUFFIX.length) {
    // Visible ASCII, space and tab (RFC 9110 section 5.5).
    return /^[\t\x20-\x7e]*$/.test(field) ? field : undefined;
  }
  const base64 = field.slice(PREFIX.length, -SUFFIX.length);
  // atob accepts missing padding and white space.
  if (base64.length % 4 !== 0 || !/^[A-Za-z0-9+/]*={0,2}$/.test(base64)) return undefined;
  try {
    return strictUtf8.decode(Uint8Array.from(atob(base64), (character) => character.charCodeAt(0)));
  } catch {
    return undefined;
  }
}
