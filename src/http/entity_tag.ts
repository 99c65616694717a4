/**
 * Entity tags: whether the client already has the current representation (RFC 9110 section 13.1.2).
 *
 * @module
 */

/**
 * Whether `If-None-Match` contains the tag, so that the response is 304. The comparison is weak, as this field requires
 * (RFC 9110 section 8.8.3.2).
 * @param tag including its quotes
 */
export function isUnchanged(request: Request, tag: string): boolean {
  const field = request.headers.get("if-none-match");
  if (field === null) return false;
  if (field.trim() === "*") return true;
  // An entity tag may contain a comma.
  return Array.from(field.matchAll(/"[^"]*"/g), ([quoted]) => quoted).includes(tag.replace(/^W\//, ""));
}
