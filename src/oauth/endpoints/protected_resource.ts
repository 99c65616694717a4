/**
 * Protected resource metadata (https://www.rfc-editor.org/rfc/rfc9728): from the URL of a resource a client finds its
 * authorization server and the scopes of its tokens.
 *
 * @module
 */
import { jsonFields, respond } from "../../http/response.ts";
import type { RouteHandler } from "../../http/router.ts";
import type { AuthorizationServer, ProtectedResource } from "../authorization_server.ts";
import { acceptedAlgorithms } from "../security_profile.ts";

const FIELDS = jsonFields(["cache-control", "public, max-age=300"]);

/** The metadata URL of a resource: the well-known segment is inserted between host and path (§3.1). */
export function resourceMetadataUrl(resource: string): string {
  const { origin, pathname, search } = new URL(resource);
  return `${origin}/.well-known/oauth-protected-resource${pathname === "/" ? "" : pathname}${search}`;
}

/** Handlers of the metadata of the resources on this origin, by path. */
export function serveProtectedResources(as: AuthorizationServer): ReadonlyMap<string, RouteHandler> {
  const own = [...as.protectedResources.values()].filter(({ resource }) =>
    URL.parse(resource)?.origin === as.origin
  );
  return new Map(own.map((each) => {
    const document = JSON.stringify(describeResource(as, each));
    return [new URL(resourceMetadataUrl(each.resource)).pathname, () => respond(200, document, FIELDS)];
  }));
}

function describeResource(as: AuthorizationServer, { resource, name, scopes }: ProtectedResource): object {
  // Without scopes for operators: some clients request all advertised scopes.
  const offered = scopes?.filter((scope) => !as.implied.has(scope) || as.commonScopes.includes(scope));
  const detailTypes = Object.keys(as.authorizationDetailTypes);
  return {
    resource,
    authorization_servers: [as.issuer],
    // What is for operators alone names theirs.
    scopes_supported: (offered?.length === 0 ? scopes : offered) ?? as.commonScopes,
    bearer_methods_supported: ["header"],
    ...(name !== undefined && { resource_name: name }),
    dpop_signing_alg_values_supported: acceptedAlgorithms(as),
    dpop_bound_access_tokens_required: as.securityProfile !== undefined && !as.certificateProxy,
    ...(as.certificateProxy && { tls_client_certificate_bound_access_tokens: true }),
    ...(detailTypes.length > 0 && { authorization_details_types_supported: detailTypes }),
  };
}
