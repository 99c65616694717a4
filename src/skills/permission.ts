/**
 * Which scopes allow what: `admin` implies `skills:write`, which implies `skills:read` and `messages:write`. Who may read
 * skills may not spend what a model costs.
 *
 * @module
 */
import type { Principal } from "../http/principal.ts";

export function mayWrite({ scopes }: Principal): boolean {
  return scopes.has("skills:write") || scopes.has("admin");
}

export function mayRead(principal: Principal): boolean {
  return principal.scopes.has("skills:read") || mayWrite(principal);
}

export function mayMessage(principal: Principal): boolean {
  return principal.scopes.has("messages:write") || mayWrite(principal);
}
