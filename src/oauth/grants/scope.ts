/**
 * Scopes (https://www.rfc-editor.org/rfc/rfc6749#section-3.3): what was asked for, against what the operator
 * defined and the client may have. A scope may imply others.
 *
 * @module
 */
import type { AuthorizationServer, ScopeDefinition } from "../authorization_server.ts";
import { OAuthError, plain } from "../error.ts";
import type { Client, UserRole } from "../records.ts";
import { leastRole } from "../users/user_role.ts";

/** Scopes of who runs the server: no client has them whose registration does not name them. */
const OPERATORS = ["admin", "clients:register"];
/** RFC 6749 §3.3 */
const SCOPE = /^[\x21\x23-\x5b\x5d-\x7e]+$/;
/** Names of scopes that only read, where the operator marked no scope as a default. */
const READING = /^(profile|(.*[:._/-])?read(only)?)$/;

/** What the operator's definitions come to. */
export interface ScopeTable {
  readonly descriptions: ReadonlyMap<string, string>;
  readonly implied: ReadonlyMap<string, readonly string[]>;
  /** What a client may have whose registration names no scope. */
  readonly commonScopes: readonly string[];
  /** What a client gets that names no scope, in its request or its registration. */
  readonly defaultScopes: readonly string[];
  /** The least role that a user needs to grant a scope. */
  readonly scopeRoles: ReadonlyMap<string, UserRole>;
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
        `Cannot create Trivet: scope "${name}" must be printable ASCII without spaces, quotes and backslashes`,
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
  const commonScopes = [...implied].filter(([, all]) => !all.some((scope) => OPERATORS.includes(scope)))
    .map(([name]) => name);
  const isMarked = [...definitions.values()].some(({ default: isDefault }) => isDefault !== undefined);
  return {
    descriptions: new Map([...definitions].map(([name, { description }]) => [name, description])),
    implied,
    commonScopes,
    // A scope is no default that would bring along one that is none.
    defaultScopes: commonScopes.filter((name) =>
      isMarked
        ? definitions.get(name)!.default === true
        : implied.get(name)!.every((each) => READING.test(each))
    ),
    scopeRoles: new Map(
      [...implied].map(([name, all]) => [
        name,
        leastRole(
          all.map((each) => definitions.get(each)!.role ?? (OPERATORS.includes(each) ? "admin" : "reader")),
        ),
      ]),
    ),
  };
}

/** The tokens of a scope, in order, each once. @throws {OAuthError} invalid_scope for text that is no scope */
export function parseScope(text: string): string[] {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text)) {
    throw new OAuthError(
      "invalid_scope",
      "scope must be names of printable ASCII characters, separated by single spaces",
    );
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
 * What is granted of a requested scope. Without a request: what the client's registration names, else the scopes that only
 * read. Of a request: what is defined here; other words are ignored, which RFC 6749 section 3.3 allows and the `scope` of
 * the answer shows (clients ask for `openid` and `offline_access` wherever they are).
 * @throws {OAuthError} invalid_scope, naming what the client may not have, or when nothing is left
 */
export function grantScope(as: AuthorizationServer, client: Client, requested: string | undefined): string {
  const allowed = allowedScopes(as, client);
  if (requested === undefined) return defaultScope(as, client, allowed);
  // Most ask for one: nothing to parse, and no text of its own to keep with each token.
  const one = allowed.find((scope) => scope === requested);
  if (one !== undefined) return one;
  const asked = findKnown(as, parseScope(requested));
  if (asked.every((scope) => allowed.includes(scope))) return asked.join(" ");
  const reach = expandScopes(as, allowed);
  const refused = asked.filter((scope) => !reach.has(scope));
  if (refused.length > 0) {
    throw new OAuthError("invalid_scope", `Scope not allowed for this client: ${plain(refused.join(" "))}`);
  }
  return asked.join(" ");
}

function defaultScope(as: AuthorizationServer, client: Client, allowed: readonly string[]): string {
  if (client.default_scope !== undefined) return client.default_scope;
  const scopes = client.scope === undefined ? as.defaultScopes : allowed;
  if (scopes.length > 0) return scopes.join(" ");
  throw new OAuthError(
    "invalid_scope",
    `This client has no default scope. Request one or more of: ${allowed.join(" ")}`,
  );
}

/** Those of the words that are scopes of this server. @throws {OAuthError} invalid_scope when there are none */
function findKnown(as: AuthorizationServer, asked: readonly string[]): readonly string[] {
  const known = asked.filter((scope) => as.implied.has(scope));
  if (known.length > 0) return known;
  throw new OAuthError("invalid_scope", `Unknown scope: ${plain(asked.join(" "))}`);
}

/**
 * A part of a scope that was granted before (RFC 6749 §6).
 * @throws {OAuthError} invalid_scope when more is asked
 */
export function narrowScope(as: AuthorizationServer, granted: string, requested: string | undefined): string {
  if (requested === undefined) return granted;
  const asked = findKnown(as, parseScope(requested));
  const held = expandScopes(as, granted.split(" "));
  if (asked.some((scope) => !held.has(scope))) {
    throw new OAuthError("invalid_scope", "The requested scope exceeds the granted scope");
  }
  return asked.join(" ");
}

/**
 * The part of a scope that the client may have today, whatever it could when that was granted.
 * @throws {OAuthError} invalid_scope when that is nothing
 */
export function narrowToClient(as: AuthorizationServer, client: Client, scope: string): string {
  const allowed = allowedScopes(as, client);
  const granted = scope.split(" ");
  if (granted.every((each) => allowed.includes(each))) return scope;
  const reach = expandScopes(as, allowed);
  const kept = granted.filter((each) => reach.has(each));
  if (kept.length === 0) {
    throw new OAuthError("invalid_scope", "None of the granted scopes is allowed for this client");
  }
  return kept.join(" ");
}

/** What a client may have: what its registration names, else what every client may. */
export function allowedScopes(as: AuthorizationServer, client: Client): readonly string[] {
  return client.scope === undefined
    ? as.commonScopes
    : client.scope.split(" ").filter((scope) => as.implied.has(scope));
}
