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

/**
 * The name of a cookie that no other host can set. On https it begins with `__Host-` (RFC 6265bis section 4.1.3.2), which
 * requires the path "/": below a path the server has it in the name, so that it is not that of another server of the host.
 */
export function toHostCookieName(
  { secure, base }: { readonly secure: boolean; readonly base: string },
  name: string,
): string {
  return secure ? `__Host-${name}${base.replace(/[^A-Za-z0-9_-]/g, ".")}` : name;
}
