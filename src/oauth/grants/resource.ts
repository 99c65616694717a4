/**
 * Resource indicators (https://www.rfc-editor.org/rfc/rfc8707): the `resource` parameter is checked against the resources
 * that this server knows and against those that were granted.
 *
 * @module
 */
import { checkNames, checkOneOf, checkWhole, type Names } from "../../options/option_check.ts";
import type { AuthorizationServer, ProtectedResource } from "../authorization_server.ts";
import { OAuthError, plain } from "../error.ts";
import type { Authorization } from "../records/authorization_record.ts";
import type { Client } from "../records/client_record.ts";
import { expandScopes } from "./scope.ts";

/** Resources in one request. */
const MAX_RESOURCES = 10;

const NAMES: Names<ProtectedResource> = {
  resource: "string",
  name: "string",
  scopes: "string[]",
  accessTokenFormat: "unknown",
  accessTokenLifetime: "number",
};

/** The canonical spelling of an identifier: clients differ in the case of the host and in a trailing slash. */
export function canonicalResource(identifier: string): string {
  return (URL.parse(identifier)?.href ?? identifier).replace(/\/$/, "");
}

/** The resources by their canonical spelling. @throws {TypeError | RangeError} for an invalid member */
export function defineResources(
  resources: readonly ProtectedResource[],
): ReadonlyMap<string, ProtectedResource> {
  for (const each of resources) {
    checkNames("oauth.resources", each, NAMES);
    const { resource, accessTokenFormat, accessTokenLifetime = 1 } = each;
    checkOneOf("oauth.resources.accessTokenFormat", accessTokenFormat, "opaque", "jwt");
    checkWhole("oauth.resources.accessTokenLifetime", accessTokenLifetime, 1);
    if (!URL.canParse(resource) || resource.includes("#")) {
      throw new TypeError(
        `Invalid options: resource "${resource}" must be an absolute URI without a fragment`,
      );
    }
  }
  return new Map(resources.map((each) => [canonicalResource(each.resource), each]));
}

/**
 * The requested resources in the server's spelling; `undefined` without a request, which means this server.
 * @throws {OAuthError} invalid_target for an unknown one
 */
export function findResources(
  as: AuthorizationServer,
  requested: readonly string[],
): readonly string[] | undefined {
  if (requested.length === 0) return undefined;
  if (requested.length > MAX_RESOURCES) {
    throw new OAuthError("invalid_target", `Too many resources. Request at most ${MAX_RESOURCES}`);
  }
  const found = requested.map((identifier) => {
    const known = as.protectedResources.get(canonicalResource(identifier));
    if (!known || identifier.includes("#")) {
      throw new OAuthError("invalid_target", `Unknown resource: ${plain(identifier)}`);
    }
    return known.resource;
  });
  return [...new Set(found)];
}

/**
 * The requested part of the granted resources (RFC 8707 §2.2): without a request all of them that the server still has.
 * @throws {OAuthError} invalid_target for one that was not granted, and when the server has none of the granted ones
 */
export function narrowResources(
  as: AuthorizationServer,
  granted: readonly string[] | undefined,
  requested: readonly string[],
): readonly string[] | undefined {
  const asked = findResources(as, requested);
  if (!asked) return granted && keepKnown(as, granted);
  const foreign = asked.find((each) => !isForResource(as, granted, each));
  if (foreign !== undefined) {
    throw new OAuthError("invalid_target", `Resource not granted: ${plain(foreign)}`);
  }
  return asked;
}

/** For a resource that the operator removed no token is issued: its limits of scope and lifetime went with it. */
function keepKnown(as: AuthorizationServer, granted: readonly string[]): readonly string[] {
  const known = granted.filter((each) => as.protectedResources.has(canonicalResource(each)));
  if (known.length > 0) return known;
  throw new OAuthError("invalid_target", `Resource no longer known: ${plain(granted.join(" "))}`);
}

/** The part of a scope that the resources use (RFC 8707 §2.2). @throws {OAuthError} invalid_scope when none is left */
export function limitToResources(
  as: AuthorizationServer,
  resource: readonly string[] | undefined,
  scope: string,
): string {
  if (resource === undefined) return scope;
  const settings = findResourceSettings(as, resource);
  const limits = settings.flatMap(({ scopes }) => scopes ? [expandScopes(as, scopes)] : []);
  if (limits.length === 0 || limits.length < settings.length) return scope;
  const kept = [...expandScopes(as, scope.split(" "))].filter((each) =>
    limits.some((limit) => limit.has(each))
  );
  if (kept.length === 0) {
    throw new OAuthError(
      "invalid_scope",
      "None of the requested scopes is available at the requested resource",
    );
  }
  return kept.join(" ");
}

/** The operator's settings for these resources; none but the identifier for one that was removed. */
export function findResourceSettings(
  as: AuthorizationServer,
  resource: readonly string[] = [],
): readonly ProtectedResource[] {
  return resource.map((each) => as.protectedResources.get(canonicalResource(each)) ?? { resource: each });
}

/** Whether a token or grant for this audience is good for `resource`. One for the whole server is for all its own. */
export function isForResource(
  as: AuthorizationServer,
  audience: readonly string[] | undefined,
  resource: string,
): boolean {
  if (audience?.includes(resource)) return true;
  return (audience === undefined || audience.includes(as.issuer)) && isOwn(as, resource);
}

/**
 * Whether the client serves one of the resources of a token (`introspects`), in any spelling. A token without resources is
 * for this server.
 */
export function isServedBy(
  as: AuthorizationServer,
  { introspects }: Client,
  { resource = [as.issuer] }: Pick<Authorization, "resource">,
): boolean {
  if (introspects === undefined || resource.some((each) => introspects.includes(each))) return true;
  const served = new Set(introspects.map(canonicalResource));
  return resource.some((each) => served.has(canonicalResource(each)));
}

function isOwn(as: AuthorizationServer, resource: string): boolean {
  return resource === as.issuer || resource.startsWith(as.origin + as.base + "/");
}
