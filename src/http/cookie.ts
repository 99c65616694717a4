/**
 * One cookie in, one cookie out (https://www.rfc-editor.org/rfc/rfc6265#section-4).
 *
 * @module
 */

/** The value of the cookie `name`; `undefined` when it is absent or sent twice with different values. */
export function readCookie(request: Request, name: string): string | undefined {
  const field = request.headers.get("cookie");
  if (field === null) return undefined;
  let found: string | undefined;
  for (const pair of field.split(";")) {
    const equals = pair.indexOf("=");
    if (equals < 0 || pair.slice(0, equals).trim() !== name) continue;
    const value = pair.slice(equals + 1).trim().replace(/^"(.*)"$/, "$1");
    // Another host of the same site may have planted a second one: then neither is believed.
    if (found !== undefined && found !== value) return undefined;
    found = value;
  }
  return found;
}

/**
 * A `Set-Cookie` value: HttpOnly, SameSite=Lax, for the whole host unless a `path` is named; `maxAge` in seconds, 0
 * removes it. `secure` must be true wherever the issuer is https.
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
