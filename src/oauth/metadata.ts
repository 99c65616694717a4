/**
 * What this server can do, for clients to read (https://www.rfc-editor.org/rfc/rfc8414#section-2), and its public
 * keys (https://www.rfc-editor.org/rfc/rfc7517#section-5).
 *
 * @module
 */
import { jsonFields, respond, respondJson } from "../http/response.ts";
import type { RouteHandler } from "../http/router.ts";
import type { AuthorizationServer } from "./authorization_server.ts";

const FIELDS = jsonFields(["cache-control", "public, max-age=300"]);

/** Serves the metadata document, written once. */
export function serveMetadata(as: AuthorizationServer): RouteHandler {
  const url = (path: string) => as.origin + as.base + path;
  const document = JSON.stringify({
    issuer: as.issuer,
    authorization_endpoint: url("/oauth/authorize"),
    token_endpoint: url("/oauth/token"),
    introspection_endpoint: url("/oauth/introspect"),
    revocation_endpoint: url("/oauth/revoke"),
    jwks_uri: url("/.well-known/jwks.json"),
    userinfo_endpoint: url("/api/user"),
    scopes_supported: Object.keys(as.scopes),
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: ["authorization_code", "refresh_token", "client_credentials"],
    token_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    introspection_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post"],
    revocation_endpoint_auth_methods_supported: ["client_secret_basic", "client_secret_post", "none"],
    code_challenge_methods_supported: ["S256"],
    authorization_response_iss_parameter_supported: true,
  });
  return () => respond(200, document, FIELDS);
}

/** Serves the public keys. */
export function serveKeys(as: AuthorizationServer): RouteHandler {
  return async () => respondJson(200, await as.keys.publish(), FIELDS);
}
