/**
 * The form of one scope (`scope-token`, RFC 6749 section 3.3).
 *
 * @module
 */

const SCOPE_TOKEN = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** Whether the text can be one scope: printable ASCII without spaces, quotes and backslashes. */
export function isScopeToken(text: string): boolean {
  return SCOPE_TOKEN.test(text);
}
