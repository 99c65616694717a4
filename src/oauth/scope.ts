/**
 * Scopes (https://www.rfc-editor.org/rfc/rfc6749#section-3.3): what was asked for, against what the operator
 * knows and the client may have. A scope may bring others along: whoever may write may read.
 *
 * @module
 */
import type { AuthorizationServer, ScopeDefinition } from "./authorization_server.ts";
import { OAuthError, plain } from "./error.ts";
import type { Client } from "./records.ts";

/** Scopes of who runs the server: no client has them whose registration does not name them. */
const OPERATORS = ["admin", "clients:register"];
/** RFC 6749 §3.3 */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;

/** What the operator's definitions come to. */
export interface ScopeTable {
  readonly descriptions: ReadonlyMap<string, string>;
  readonly implied: ReadonlyMap<string, readonly string[]>;
  readonly commonScopes: readonly string[];
}

/** Reads the operator's scopes. @throws {TypeError} for a name or an implication that cannot stand */
export function defineScopes(scopes: Readonly<Record<string, string | ScopeDefinition>>): ScopeTable {
  const definitions = new Map(
    Object.entries(scopes).map((
      [name, given],
    ) => [name, typeof given === "string" ? { description: given } : given]),
  );
  for (const [name, { implies = [] }] of definitions) {
    if (!SCOPE.test(name)) {
      throw new TypeError(
        `Cannot create Trivet: scope "${name}" must be printable ASCII without blanks and quotes`,
      );
    }
    const unknown = implies.find((other) => !definitions.has(other));
    if (unknown !== undefined) {
      throw new TypeError(`Cannot create Trivet: scope "${name}" implies "${unknown}", which is not defined`);
    }
  }
  const implied = new Map(
    [...definitions.keys()].map((name) => {
      const all = new Set([name]);
      // A set may grow while it is walked: what is implied by what is implied comes along.
      for (const each of all) for (const other of definitions.get(each)!.implies ?? []) all.add(other);
      return [name, [...all]];
    }),
  );
  return {
    descriptions: new Map([...definitions].map(([name, { description }]) => [name, description])),
    implied,
    commonScopes: [...implied].filter(([, all]) => !all.some((scope) => OPERATORS.includes(scope)))
      .map(([name]) => name),
  };
}

/** The tokens of a scope, in order, each once. @throws {OAuthError} invalid_scope for text that is no scope */
export function parseScope(text: string): string[] {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text)) {
    throw new OAuthError("invalid_scope", "scope must be printable ASCII words separated by single spaces");
  }
  return [...new Set(text.split(" "))];
}

/** These scopes and what they bring along. */
export function expandScopes({ implied }: ScopeTable, scopes: Iterable<string>): Set<string> {
  const all = new Set<string>();
  for (const scope of scopes) for (const each of implied.get(scope) ?? [scope]) all.add(each);
  return all;
}

/**
 * What is granted of a requested scope: everything that the client may have when nothing was asked, else what
 * was asked.
 * @throws {OAuthError} invalid_scope, naming what the client may not have
 */
export function grantScope(as: AuthorizationServer, client: Client, requested: string | undefined): string {
  const allowed = allowedScopes(as, client);
  if (requested === undefined) return client.default_scope ?? allowed.join(" ");
  // Most ask for one: nothing to parse, and no text of its own to keep with each token.
  const one = allowed.find((scope) => scope === requested);
  if (one !== undefined) return one;
  const asked = parseScope(requested);
  if (asked.every((scope) => allowed.includes(scope))) return asked.join(" ");
  const reach = expandScopes(as, allowed);
  const refused = asked.filter((scope) => !reach.has(scope));
  if (refused.length > 0) {
    throw new OAuthError("invalid_scope", `This client may not have: ${plain(refused.join(" "))}`);
  }
  return asked.join(" ");
}

/**
 * A part of a scope that was granted before (RFC 6749 §6).
 * @throws {OAuthError} invalid_scope when more is asked
 */
export function narrowScope(as: AuthorizationServer, granted: string, requested: string | undefined): string {
  if (requested === undefined) return granted;
  const asked = parseScope(requested);
  const held = expandScopes(as, granted.split(" "));
  if (asked.some((scope) => !held.has(scope))) {
    throw new OAuthError("invalid_scope", "scope must not go beyond what was granted");
  }
  return asked.join(" ");
}

/** What a client may have: what its registration names, else what every client may. */
export function allowedScopes(as: AuthorizationServer, client: Client): readonly string[] {
  return client.scope === undefined
    ? as.commonScopes
    : client.scope.split(" ").filter((scope) => as.implied.has(scope));
}
