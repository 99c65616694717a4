/**
 * Scopes (https://www.rfc-editor.org/rfc/rfc6749#section-3.3): what was asked for, against what the operator
 * knows and the client may have.
 *
 * @module
 */
import type { AuthorizationServer } from "./authorization_server.ts";
import { OAuthError } from "./error.ts";
import type { Client } from "./records.ts";

/** The scopes that a client may have whose registration names none: all but `admin`. */
export function commonScopes(scopes: Readonly<Record<string, string>>): readonly string[] {
  return Object.keys(scopes).filter((scope) => scope !== "admin");
}

/** The tokens of a scope, in order, each once. @throws {OAuthError} invalid_scope for text that is no scope */
export function parseScope(text: string): string[] {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text)) {
    throw new OAuthError("invalid_scope", "scope must be printable ASCII words separated by single spaces");
  }
  return [...new Set(text.split(" "))];
}

/**
 * What is granted of a requested scope: everything that the client may have when nothing was asked, else what
 * was asked.
 * @throws {OAuthError} invalid_scope, naming what the client may not have
 */
export function grantScope(as: AuthorizationServer, client: Client, requested: string | undefined): string {
  const allowed = allowedScopes(as, client);
  // RFC 6749 §3.1: a parameter without a value is as good as left out.
  if (requested === undefined || requested === "") return allowed.join(" ");
  const asked = parseScope(requested);
  const refused = asked.filter((scope) => !allowed.includes(scope));
  if (refused.length > 0) {
    throw new OAuthError("invalid_scope", `This client may not have: ${refused.join(" ").slice(0, 200)}`);
  }
  return asked.join(" ");
}

/**
 * A part of a scope that was granted before (RFC 6749 §6).
 * @throws {OAuthError} invalid_scope when more is asked
 */
export function narrowScope(granted: string, requested: string | undefined): string {
  if (requested === undefined || requested === "") return granted;
  const asked = parseScope(requested);
  const held = granted.split(" ");
  if (asked.some((scope) => !held.includes(scope))) {
    throw new OAuthError("invalid_scope", "scope must not go beyond what the user granted");
  }
  return asked.join(" ");
}

function allowedScopes(as: AuthorizationServer, client: Client): readonly string[] {
  return client.scope === undefined
    ? as.commonScopes
    : client.scope.split(" ").filter((scope) => scope in as.scopes);
}
