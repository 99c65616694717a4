/**
 * Reads and writes one cookie (RFC 6265 section 4).
 *
 * @module
 */

/** The value of the cookie `name`; `undefined` when it is absent or occurs with two different values. */
export function readCookie(request: Request, name: string): string | undefined {
  const field = request.headers.get("cookie");
  if (field === null) return undefined;
  let found: string | undefined;
  for (const pair of field.split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim().replace(/^"(.*)"$/, "$1");
    // Another host of the same site may have set a second cookie of this name: then neither is trusted.
    if (found !== undefined && found !== value) return undefined;
    found = value;
  }
  return found;
}

/**
 * A `Set-Cookie` value with HttpOnly and SameSite=Lax. `path` is the whole host by default; `maxAge` is in seconds, and 0
 * removes the cookie. `secure` must be true for an https issuer.
 */
export function writeCookie(
  name: string,
  value: string,
  options: { maxAge?: number; secure: boolean; path?: string },
): string {
  return `${name}=${value}; Path=${options.path ?? "/"}; HttpOnly; SameSite=Lax` +
    (options.maxAge === undefined ? "" : `; Max-Age=${options.maxAge}`) +
    (options.secure ? "; Secure" : "");
}
