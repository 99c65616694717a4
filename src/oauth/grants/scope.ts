/**
 * Scopes (https://www.rfc-editor.org/rfc/rfc6749#section-3.3): which of the requested scopes are granted, by what the
 * operator defined and what the client may have. A scope may imply others.
 *
 * @module
 */
import { closeScopes } from "../../http/principal.ts";
import { isScopeToken } from "../../http/scope_token.ts";
import { checkNames, type Names } from "../../options/option_check.ts";
import type { AuthorizationServer, ScopeDefinition } from "../authorization_server.ts";
import { OAuthError, plain } from "../error.ts";
import type { Client } from "../records/client_record.ts";
import type { UserRole } from "../records/user_record.ts";
import { checkUserRole, highestRole } from "../users/user_role.ts";

/** Scopes for operating the server: a client has them only when its registration names them. */
const OPERATOR_SCOPES = ["admin", "clients:register"];
/** Names of scopes that only read: the defaults where the operator marked no scope as one. */
const READ_ONLY = /^(profile|(.*[:._/-])?read(only)?)$/;

/** The scopes of the operator, compiled once. */
export interface ScopeTable {
  readonly descriptions: ReadonlyMap<string, string>;
  /** Each scope with all scopes that it implies, itself included. */
  readonly implied: ReadonlyMap<string, ReadonlySet<string>>;
  /** The scopes that a client may have when its registration names none. */
  readonly commonScopes: readonly string[];
  /** The scopes that a client gets when neither its request nor its registration names one. */
  readonly defaultScopes: readonly string[];
  /** The lowest role that a user needs to grant a scope. */
  readonly scopeRoles: ReadonlyMap<string, UserRole>;
}

const NAMES: Names<ScopeDefinition> = {
  description: "string",
  descriptions: "object",
  implies: "string[]",
  default: "boolean",
  role: "unknown",
};

/** Compiles the operator's scopes. @throws {TypeError} for an invalid name, or one that implies an undefined scope */
export function defineScopes(scopes: Readonly<Record<string, string | ScopeDefinition>>): ScopeTable {
  const definitions = new Map(
    Object.entries(scopes).map((
      [name, given],
    ) => [name, typeof given === "string" ? { description: given } : given]),
  );
  for (const [name, definition] of definitions) {
    checkNames(`oauth.scopes.${name}`, definition, NAMES);
    checkUserRole(definition.role ?? "reader");
    const { implies = [] } = definition;
    if (!isScopeToken(name)) {
      throw new TypeError(
        `Invalid options: scope "${name}" must be printable ASCII without spaces, quotes and backslashes`,
      );
    }
    const unknown = implies.find((other) => !definitions.has(other));
    if (unknown !== undefined) {
      throw new TypeError(`Invalid options: scope "${name}" implies "${unknown}", which is not defined`);
    }
  }
  const implied = closeDefinedScopes(scopes);
  const commonScopes = [...implied].filter(([, all]) => !OPERATOR_SCOPES.some((scope) => all.has(scope)))
    .map(([name]) => name);
  const isMarked = [...definitions.values()].some(({ default: isDefault }) => isDefault !== undefined);
  return {
    descriptions: new Map([...definitions].map(([name, { description }]) => [name, description])),
    implied,
    commonScopes,
    // Without marks a scope is a default only when all scopes that it implies only read as well.
    defaultScopes: commonScopes.filter((name) =>
      isMarked
        ? definitions.get(name)!.default === true
        : [...implied.get(name)!].every((each) => READ_ONLY.test(each))
    ),
    scopeRoles: new Map(
      [...implied].map(([name, all]) => [
        name,
        highestRole(
          [...all].map((each) =>
            definitions.get(each)!.role ?? (OPERATOR_SCOPES.includes(each) ? "admin" : "reader")
          ),
        ),
      ]),
    ),
  };
}

/** The scopes of the option `scopes`, each with all that it implies, itself included. */
export function closeDefinedScopes(
  scopes: Readonly<Record<string, string | ScopeDefinition>>,
): ReadonlyMap<string, ReadonlySet<string>> {
  return closeScopes(
    Object.fromEntries(
      Object.entries(scopes).map((
        [name, each],
      ) => [name, typeof each === "object" ? each.implies ?? [] : []]),
    ),
  );
}

/** The names in a scope, in order, each once. @throws {OAuthError} invalid_scope for malformed text */
export function parseScope(text: string): string[] {
  if (!/^[\x21\x23-\x5b\x5d-\x7e]+( [\x21\x23-\x5b\x5d-\x7e]+)*$/.test(text)) {
    throw new OAuthError(
      "invalid_scope",
      "scope must be names of printable ASCII characters, separated by single spaces",
    );
  }
  return [...new Set(text.split(" "))];
}

/** These scopes and all that they imply. */
export function expandScopes({ implied }: ScopeTable, scopes: Iterable<string>): Set<string> {
  const all = new Set<string>();
  for (const scope of scopes) for (const each of implied.get(scope) ?? [scope]) all.add(each);
  return all;
}

/**
 * The scope to grant. Without a requested scope it is what the client's registration names, else the default scopes.
 * Scopes that this server does not define are ignored, which RFC 6749 section 3.3 allows and the `scope` of the response
 * shows: many clients request `openid` and `offline_access` from every server.
 * @throws {OAuthError} invalid_scope for scopes that the client may not have, or when none is left
 */
export function grantScope(as: AuthorizationServer, client: Client, requested: string | undefined): string {
  const allowed = allowedScopes(as, client);
  if (requested === undefined) return defaultScope(as, client, allowed);
  // Most clients request one scope: this avoids parsing it and keeping another copy of its text with each token.
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
  // Those that it may have still: the operator may have removed one, or kept it for operators, since it registered.
  const own = client.default_scope?.split(" ").filter((scope) => allowed.includes(scope)) ?? [];
  if (own.length > 0) return own.join(" ");
  const scopes = client.scope === undefined ? as.defaultScopes : allowed;
  if (scopes.length > 0) return scopes.join(" ");
  if (allowed.length === 0) throw new OAuthError("invalid_scope", "No scope is allowed for this client");
  throw new OAuthError(
    "invalid_scope",
    `This client has no default scope. Request one or more of: ${allowed.join(" ")}`,
  );
}

/** The names that this server defines. @throws {OAuthError} invalid_scope when there are none */
function findKnown(as: AuthorizationServer, asked: readonly string[]): readonly string[] {
  const known = asked.filter((scope) => as.implied.has(scope));
  if (known.length > 0) return known;
  throw new OAuthError("invalid_scope", `Unknown scope: ${plain(asked.join(" "))}`);
}

/**
 * The requested part of a granted scope (RFC 6749 §6): all of it without a request.
 * @throws {OAuthError} invalid_scope when the request exceeds it
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
 * The part of a granted scope that the client may have now: its registration may have changed since.
 * @throws {OAuthError} invalid_scope when none is left
 */
export function limitToClient(as: AuthorizationServer, client: Client, scope: string): string {
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

/** The scopes that a client may have: those that its registration names, else `commonScopes`. */
export function allowedScopes(as: AuthorizationServer, client: Client): readonly string[] {
  return client.scope === undefined
    ? as.commonScopes
    : client.scope.split(" ").filter((scope) => as.implied.has(scope));
}
