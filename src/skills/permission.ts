/**
 * Which scopes allow what: `admin` implies `skills:write`, which implies `skills:read`.
 *
 * @module
 */
import type { Principal } from "../http/bearer.ts";

export function mayWrite({ scopes }: Principal): boolean {
  return scopes.has("skills:write") || scopes.has("admin");
}

export function mayRead(principal: Principal): boolean {
  return principal.scopes.has("skills:read") || mayWrite(principal);
}
