/**
 * Which scopes allow what: `admin` implies `skills:write`, which implies `skills:read` and `messages:write`.
 * `skills:read` alone does not allow messages requests, which cost model tokens.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";

export function mayWrite({ scopes, issuer }: Principal): boolean {
  // As in `hasScope`: another issuer may mean something else by it.
  return scopes.has("skills:write") || issuer === undefined && scopes.has("admin");
}

export function mayRead(principal: Principal): boolean {
  return principal.scopes.has("skills:read") || mayWrite(principal);
}

export function mayMessage(principal: Principal): boolean {
  return principal.scopes.has("messages:write") || mayWrite(principal);
}
