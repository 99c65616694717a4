/**
 * Entity tags: whether the caller already has what would be sent (https://www.rfc-editor.org/rfc/rfc9110#section-13.1.2).
 *
 * @module
 */

/**
 * Whether `If-None-Match` names the tag, so that the answer is 304. Compared weakly, as that field asks (RFC 9110
 * section 8.8.3.2).
 * @param tag with its quotes
 */
export function isUnchanged(request: Request, tag: string): boolean {
  const field = request.headers.get("if-none-match");
  if (field === null) return false;
  if (field.trim() === "*") return true;
  // A comma may stand inside the quotes.
  return Array.from(field.matchAll(/"[^"]*"/g), ([quoted]) => quoted).includes(tag.replace(/^W\//, ""));
}
