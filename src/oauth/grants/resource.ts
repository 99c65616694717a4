/**
 * What tokens are for (https://www.rfc-editor.org/rfc/rfc8707): the `resource` parameter against the resources that this
 * server knows, and against what was granted.
 *
 * @module
 */
import type { AuthorizationServer, ProtectedResource } from "../authorization_server.ts";
import { OAuthError, plain } from "../error.ts";
import { expandScopes } from "./scope.ts";

/** More at once is no request of anybody's. */
const MOST = 10;

/** One spelling for each identifier: clients differ in the case of hosts and in a slash at the end. */
export function canonicalResource(identifier: string): string {
  return (URL.parse(identifier)?.href ?? identifier).replace(/\/$/, "");
}

/** The resources by their canonical spelling. @throws {TypeError} for an identifier that cannot stand */
export function defineResources(
  resources: readonly ProtectedResource[],
): ReadonlyMap<string, ProtectedResource> {
  for (const { resource } of resources) {
    if (!URL.canParse(resource) || resource.includes("#")) {
      throw new TypeError(
        `Cannot create Trivet: resource "${resource}" must be an absolute URI without a fragment`,
      );
    }
  }
  return new Map(resources.map((each) => [canonicalResource(each.resource), each]));
}

/**
 * The identifiers asked for, as the server spells them; `undefined` when none was, which means this server.
 * @throws {OAuthError} invalid_target for one that is not known here
 */
export function findResources(
  as: AuthorizationServer,
  requested: readonly string[],
): readonly string[] | undefined {
  if (requested.length === 0) return undefined;
  if (requested.length > MOST) {
    throw new OAuthError("invalid_target", `Too many resources. Request at most ${MOST}`);
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
 * The part of what was granted that a token is asked for (RFC 8707 §2.2): all of it when nothing is named.
 * @throws {OAuthError} invalid_target for one that was not granted
 */
export function narrowResources(
  as: AuthorizationServer,
  granted: readonly string[] | undefined,
  requested: readonly string[],
): readonly string[] | undefined {
  const asked = findResources(as, requested);
  if (!asked) return granted;
  // Who was granted the whole server may name a part of it.
  const within = (each: string) => granted ? granted.includes(each) : isOwn(as, each);
  const foreign = asked.find((each) => !within(each));
  if (foreign !== undefined) {
    throw new OAuthError("invalid_target", `Resource not granted: ${plain(foreign)}`);
  }
  return asked;
}

/** The part of a scope that the resources know (RFC 8707 §2.2). @throws {OAuthError} invalid_scope when that is nothing */
export function scopeFor(
  as: AuthorizationServer,
  resource: readonly string[] | undefined,
  scope: string,
): string {
  if (resource === undefined) return scope;
  const settings = settingsOf(as, resource);
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

/** What the operator said of these resources. */
export function settingsOf(
  as: AuthorizationServer,
  resource: readonly string[] = [],
): readonly ProtectedResource[] {
  return resource.flatMap((each) => as.protectedResources.get(canonicalResource(each)) ?? []);
}

/** Whether a token for `audience` may be used at `resource`: one for the server as a whole, wherever that is ours. */
export function isFor(
  as: AuthorizationServer,
  audience: readonly string[] | undefined,
  resource: string,
): boolean {
  return audience === undefined || audience.includes(as.issuer)
    ? isOwn(as, resource)
    : audience.includes(resource);
}

function isOwn(as: AuthorizationServer, resource: string): boolean {
  return resource === as.issuer || resource.startsWith(as.origin + as.base + "/");
}
