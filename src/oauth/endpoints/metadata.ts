/**
 * The authorization server metadata (https://www.rfc-editor.org/rfc/rfc8414#section-2) and the JWK set
 * (https://www.rfc-editor.org/rfc/rfc7517#section-5).
 *
 * @module
 */
import { jsonFields, respond, respondJson } from "../../http/response.ts";
import type { RouteHandler } from "../../http/router.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { LANGUAGES } from "../pages/languages.ts";
import { type ClientAuthMethod, GRANT_TYPES } from "../records/client_record.ts";
import { acceptedAlgorithms, isMethodAllowed } from "../security_profile.ts";
import { supportedModes } from "../response_modes/response_mode.ts";

const FIELDS = jsonFields(["cache-control", "public, max-age=300"]);

/** Serves the metadata document, serialized at start; with OpenID Connect at the first request. */
export function serveMetadata(as: AuthorizationServer): RouteHandler {
  const serialize = (more: object) => ({
    withDocuments: JSON.stringify({ ...describeServer(as, true), ...more }),
    withoutDocuments: JSON.stringify({ ...describeServer(as, false), ...more }),
  });
  let texts = as.openid ? undefined : serialize({});
  const choose = ({ withDocuments, withoutDocuments }: ReturnType<typeof serialize>) =>
    respond(200, as.clientMetadataDocuments() ? withDocuments : withoutDocuments, FIELDS);
  return () =>
    texts
      ? choose(texts)
      : import("../openid/discovery.ts").then(({ describeProvider }) =>
        choose(texts = serialize(describeProvider(as)))
      );
}

/** RFC 8414 §3.2: members without a value are omitted. */
function describeServer(as: AuthorizationServer, clientDocuments: boolean): Record<string, unknown> {
  const url = (path: string) => as.origin + as.base + path;
  const mtls = as.certificateProxy ? ["tls_client_auth", "self_signed_tls_client_auth"] : [];
  const algorithms = acceptedAlgorithms(as);
  const authMethods = ["client_secret_basic", "client_secret_post", "private_key_jwt", ...mtls].filter((
    each,
  ) => isMethodAllowed(as, each as ClientAuthMethod));
  const anyMethod = as.securityProfile === undefined ? [...authMethods, "none"] : authMethods;
  const detailTypes = Object.keys(as.authorizationDetailTypes);
  return {
    issuer: as.issuer,
    authorization_endpoint: url("/oauth/authorize"),
    token_endpoint: url("/oauth/token"),
    introspection_endpoint: url("/oauth/introspect"),
    revocation_endpoint: url("/oauth/revoke"),
    pushed_authorization_request_endpoint: url("/oauth/par"),
    device_authorization_endpoint: url("/oauth/device_authorization"),
    ...(as.registration !== "off" && { registration_endpoint: url("/oauth/register") }),
    jwks_uri: url("/.well-known/jwks.json"),
    userinfo_endpoint: url("/api/user"),
    // RFC 8414 §2: may be incomplete. Scopes for operators are not advertised.
    scopes_supported: as.commonScopes,
    response_types_supported: ["code"],
    response_modes_supported: supportedModes(as),
    grant_types_supported: GRANT_TYPES.filter((type) =>
      !type.endsWith(":jwt-bearer") || as.trustedIssuers.length > 0
    ),
    token_endpoint_auth_methods_supported: anyMethod,
    token_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_endpoint_auth_methods_supported: authMethods,
    introspection_endpoint_auth_signing_alg_values_supported: algorithms,
    introspection_signing_alg_values_supported: as.signingAlgorithms,
    revocation_endpoint_auth_methods_supported: anyMethod,
    revocation_endpoint_auth_signing_alg_values_supported: algorithms,
    code_challenge_methods_supported: ["S256"],
    dpop_signing_alg_values_supported: algorithms,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: clientDocuments,
    require_pushed_authorization_requests: as.requirePushedRequests,
    ui_locales_supported: LANGUAGES,
    ...describeSigned(as),
    prompt_values_supported: ["none", "login", "consent"],
    ...(mtls.length > 0 && { tls_client_certificate_bound_access_tokens: true }),
    ...(detailTypes.length > 0 && { authorization_details_types_supported: detailTypes }),
    ...(as.acrValues.length > 0 && { acr_values_supported: as.acrValues }),
    ...(as.trustedIssuers.length > 0 && {
      authorization_grant_profiles_supported: ["urn:ietf:params:oauth:grant-profile:id-jag"],
    }),
    protected_resources: [...as.protectedResources.values()].map(({ resource }) => resource),
  };
}

/** RFC 9101 §10.5 and OpenID Connect Discovery §3 (requests), JARM §4 (responses). */
function describeSigned(as: AuthorizationServer): Record<string, unknown> {
  const isOn = as.requestObjects !== "off";
  return {
    // The default of the second is true (OpenID Connect Discovery §3).
    request_parameter_supported: isOn,
    request_uri_parameter_supported: isOn,
    ...(isOn && {
      require_request_uri_registration: true,
      require_signed_request_object: as.requestObjects === "required",
      request_object_signing_alg_values_supported: acceptedAlgorithms(as),
    }),
    ...(as.responseModes.includes("jwt") && {
      authorization_signing_alg_values_supported: as.signingAlgorithms,
    }),
  };
}

/** Serves the JWK set. */
export function serveKeys(as: AuthorizationServer): RouteHandler {
  return async () => respondJson(200, await as.keys.publish(), FIELDS);
}
