/**
 * Roles of users: all users share one workspace, and a role says what of it a user may let applications change.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import type { Profile, UserRole } from "../records.ts";

/** Each may grant what the ones before it may. */
export const USER_ROLES: readonly UserRole[] = ["reader", "author", "admin"];

/** @throws {TypeError} for a word that is no role */
export function checkUserRole(role: string): UserRole {
  const known = USER_ROLES.find((each) => each === role);
  if (known) return known;
  throw new TypeError(`Unknown role "${role}": use one of ${USER_ROLES.join(", ")}`);
}

/** The role that may grant all that these may. */
export function leastRole(roles: readonly UserRole[]): UserRole {
  return USER_ROLES[Math.max(0, ...roles.map((role) => USER_ROLES.indexOf(role)))]!;
}

/** The rank that all of a scope needs, by its text: there are few, and every token that is read asks. */
const leastRanks = new WeakMap<AuthorizationServer["scopeRoles"], Map<string, number>>();
const MAX_REMEMBERED = 1000;

/** The part of a scope that a user's role allows them to grant; `""` when it allows none of it. */
export function limitToRole(
  { scopeRoles, defaultRole }: AuthorizationServer,
  { role = defaultRole }: Pick<Profile, "role">,
  scope: string,
): string {
  let known = leastRanks.get(scopeRoles);
  if (!known) leastRanks.set(scopeRoles, known = new Map());
  const rankOf = (each: string) => USER_ROLES.indexOf(scopeRoles.get(each) ?? "reader");
  let least = known.get(scope);
  if (least === undefined) {
    if (known.size >= MAX_REMEMBERED) known.clear();
    known.set(scope, least = Math.max(...scope.split(" ").map(rankOf)));
  }
  const rank = USER_ROLES.indexOf(role);
  return rank >= least ? scope : scope.split(" ").filter((each) => rankOf(each) <= rank).join(" ");
}

/** As {@linkcode limitToRole}. @throws {OAuthError} `code` when nothing is left */
export function requireRole(
  as: AuthorizationServer,
  user: Pick<Profile, "role">,
  scope: string,
  code: "access_denied" | "invalid_grant" | "invalid_scope" = "access_denied",
): string {
  const allowed = limitToRole(as, user, scope);
  if (allowed !== "") return allowed;
  throw new OAuthError(code, "The role of the user does not allow any of the requested scopes");
}
