/**
 * The paths of pages for people.
 *
 * @module
 */
import { ACCOUNT_PATHS, CONNECTION_PATHS } from "./account/routes.ts";
import { FACTOR_PATHS } from "./factors/routes.ts";

/** Pages for people: scripts of other origins never read them. */
const PAGES: readonly string[] = [
  "/oauth/authorize",
  "/login",
  "/login/forgot",
  "/login/reset",
  "/login/verify-email",
  "/login/invitation",
  "/login/sign-up",
  "/login/sign-up/confirm",
  "/logout",
  "/oauth/logout",
  "/device",
  ...FACTOR_PATHS,
  ...ACCOUNT_PATHS,
  ...CONNECTION_PATHS,
];

/** The paths of pages below `base`, and the callbacks to which identity providers may post their answer. */
export function pagePaths(base: string, more: readonly string[] = []): Pick<ReadonlySet<string>, "has"> {
  const known = new Set([...more, ...PAGES].map((path) => base + path));
  return {
    has: (path) =>
      known.has(path) || path.startsWith(`${base}/account/`) ||
      path.startsWith(`${base}/login/`) && path.endsWith("/callback"),
  };
}
