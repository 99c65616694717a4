/**
 * The route of a path, and the methods, for metrics: fixed lists, so that what strangers make up does not become series.
 *
 * @module
 */

/** The methods of RFC 9110 and RFC 5789. Deno accepts any other text as well. */
export const METHODS: ReadonlySet<string> = new Set(
  ["GET", "HEAD", "POST", "PUT", "DELETE", "CONNECT", "OPTIONS", "TRACE", "PATCH"],
);

/** Whole paths. */
const EXACT: ReadonlySet<string> = new Set([
  "/",
  "/oauth/authorize",
  "/oauth/token",
  "/oauth/introspect",
  "/oauth/revoke",
  "/oauth/par",
  "/oauth/device_authorization",
  "/oauth/register",
  "/oauth/userinfo",
  "/oauth/logout",
  "/oauth/form_post.js",
  "/login",
  "/logout",
  "/device",
  "/account",
  "/api/user",
  "/mcp",
  "/admin",
  "/v1/skills",
  "/v1/messages",
]);

/** Beginnings, and what stands for the rest. The first that fits counts. */
const PREFIXES: readonly (readonly [string, string])[] = [
  ["/oauth/register/", ":client"],
  ["/login/", "*"],
  ["/account/", "*"],
  ["/mcp/", "*"],
  ["/admin/", "*"],
  ["/v1/skills/", "*"],
  ["/.well-known/", "*"],
];

/** @param base the path of the issuer without a slash at its end. @returns `other` for any other path */
export function routeOf(path: string, base: string): string {
  const own = base !== "" && path.startsWith(base + "/") ? path.slice(base.length) : path;
  if (EXACT.has(own)) return own;
  const found = PREFIXES.find(([prefix]) => own.startsWith(prefix));
  return found ? found.join("") : "other";
}
