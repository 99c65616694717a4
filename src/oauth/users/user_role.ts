/**
 * Roles of users: all users share one workspace, and the role of a user limits the scopes that the user can grant.
 *
 * @module
 */
import type { AuthorizationServer } from "../authorization_server.ts";
import { OAuthError } from "../error.ts";
import type { Profile, UserRole } from "../records/user_record.ts";

/** In ascending order: each role may grant all that the roles before it may. */
export const USER_ROLES: readonly UserRole[] = ["reader", "author", "admin"];

/** @throws {TypeError} for an unknown role */
export function checkUserRole(role: string): UserRole {
  const known = USER_ROLES.find((each) => each === role);
  if (known) return known;
  throw new TypeError(`Unknown role "${role}": use one of ${USER_ROLES.join(", ")}`);
}

/** The highest of these roles; the lowest role when there are none. */
export function highestRole(roles: readonly UserRole[]): UserRole {
  return USER_ROLES[Math.max(0, ...roles.map((role) => USER_ROLES.indexOf(role)))]!;
}

/** The rank that a scope string requires, cached because each verified token needs it. */
const requiredRanks = new WeakMap<AuthorizationServer["scopeRoles"], Map<string, number>>();
const MAX_CACHED_SCOPES = 1000;

/** What decides on the scopes that a user can grant. */
type Rights = Pick<Profile, "role" | "scopes">;

/**
 * The part of a scope string that the user may grant: by their role, and by the groups at their identity provider where
 * these decide. `""` when it is no scope.
 */
export function limitToRole(
  { scopeRoles, defaultRole, implied }: AuthorizationServer,
  { role = defaultRole, scopes: decided }: Rights,
  scope: string,
): string {
  let ranks = requiredRanks.get(scopeRoles);
  if (!ranks) requiredRanks.set(scopeRoles, ranks = new Map());
  const rankOf = (each: string) => USER_ROLES.indexOf(scopeRoles.get(each) ?? "reader");
  let required = ranks.get(scope);
  if (required === undefined) {
    if (ranks.size >= MAX_CACHED_SCOPES) ranks.clear();
    ranks.set(scope, required = Math.max(...scope.split(" ").map(rankOf)));
  }
  const rank = USER_ROLES.indexOf(role);
  if (decided !== undefined) {
    const isWithheld = (each: string) =>
      [each, ...implied.get(each) ?? []].some((one) => Object.hasOwn(decided, one) && decided[one] !== true);
    const isGiven = (each: string) => Object.hasOwn(decided, each) && decided[each] === true;
    return scope.split(" ").filter((each) => !isWithheld(each) && (isGiven(each) || rankOf(each) <= rank))
      .join(" ");
  }
  return rank >= required ? scope : scope.split(" ").filter((each) => rankOf(each) <= rank).join(" ");
}

/** As {@linkcode limitToRole}. @throws {OAuthError} with `code` when the role allows no scope */
export function requireRole(
  as: AuthorizationServer,
  user: Rights,
  scope: string,
  code: "invalid_grant" | "invalid_scope",
): string {
  const allowed = limitToRole(as, user, scope);
  if (allowed !== "") return allowed;
  throw refuseRole(code);
}

/** The error for a user whose role allows no requested scope. */
export function refuseRole(
  code: "access_denied" | "invalid_grant" | "invalid_scope" = "access_denied",
): OAuthError {
  return new OAuthError(code, "The role of the user does not allow any of the requested scopes");
}
