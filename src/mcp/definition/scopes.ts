/**
 * Checks the scopes that a definition requires (RFC 6750 section 3.1).
 *
 * @module
 */
import type { Call } from "../call.ts";
import { ScopeError } from "../error.ts";

/** Whether the caller's access token has all the scopes. */
export function hasScopes({ host, principal }: Call, scopes: readonly string[]): boolean {
  return scopes.every((scope) => host.holds(principal, scope));
}

/** @throws {ScopeError} unless the caller's access token has all the scopes */
export function requireScopes(call: Call, scopes: readonly string[]): void {
  if (!hasScopes(call, scopes)) throw new ScopeError(scopes);
}
