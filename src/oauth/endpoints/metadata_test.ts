import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { newServer } from "../test_server.ts";

const test = suite("oauth/metadata");
const ALGORITHMS = ["ES256", "Ed25519", "EdDSA", "RS256", "PS256"];

async function read(path: string, options: Partial<AuthorizationServerOptions> = {}) {
  const response = await (await newServer(options)).send(path);
  assert.equal([response.status, response.headers.get("content-type")], [200, "application/json"]);
  return await response.json();
}
const describe = (options: Partial<AuthorizationServerOptions> = {}) =>
  read("/.well-known/oauth-authorization-server", options);

test("RFC 8414 section 2: the metadata has these members and no others", async () => {
  const proving = ["client_secret_basic", "client_secret_post", "private_key_jwt"];
  assert.equal(await describe(), {
    issuer: "https://as.example",
    authorization_endpoint: "https://as.example/oauth/authorize",
    token_endpoint: "https://as.example/oauth/token",
    introspection_endpoint: "https://as.example/oauth/introspect",
    revocation_endpoint: "https://as.example/oauth/revoke",
    pushed_authorization_request_endpoint: "https://as.example/oauth/par",
    device_authorization_endpoint: "https://as.example/oauth/device_authorization",
    registration_endpoint: "https://as.example/oauth/register",
    jwks_uri: "https://as.example/.well-known/jwks.json",
    userinfo_endpoint: "https://as.example/api/user",
    scopes_supported: ["profile", "read", "write"],
    response_types_supported: ["code"],
    response_modes_supported: ["query"],
    grant_types_supported: [
      "authorization_code",
      "refresh_token",
      "client_credentials",
      "urn:ietf:params:oauth:grant-type:device_code",
      "urn:ietf:params:oauth:grant-type:token-exchange",
    ],
    token_endpoint_auth_methods_supported: [...proving, "none"],
    token_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    introspection_endpoint_auth_methods_supported: proving,
    introspection_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    introspection_signing_alg_values_supported: ["ES256"],
    revocation_endpoint_auth_methods_supported: [...proving, "none"],
    revocation_endpoint_auth_signing_alg_values_supported: ALGORITHMS,
    code_challenge_methods_supported: ["S256"],
    dpop_signing_alg_values_supported: ALGORITHMS,
    authorization_response_iss_parameter_supported: true,
    client_id_metadata_document_supported: true,
    require_pushed_authorization_requests: false,
    request_parameter_supported: false,
    request_uri_parameter_supported: false,
    ui_locales_supported: ["en", "de"],
    prompt_values_supported: ["none", "login", "consent"],
    acr_values_supported: ["password"],
    protected_resources: ["https://as.example", "https://as.example/mcp"],
  });
});

test("RFC 9101 section 10.5: request objects are announced when they are on", async () => {
  for (const requestObjects of ["optional", "required"] as const) {
    const metadata = await describe({ requestObjects });
    assert.is(metadata.request_parameter_supported, true);
    assert.is(metadata.request_uri_parameter_supported, true);
    assert.is(metadata.require_request_uri_registration, true);
    assert.is(metadata.require_signed_request_object, requestObjects === "required");
    assert.equal(metadata.request_object_signing_alg_values_supported, ALGORITHMS);
    assert.is(metadata.request_object_encryption_alg_values_supported, undefined);
  }
});

const CERTIFICATES = {
  addresses: ["10.0.0.2"],
  certificateField: "x-client-cert",
  verifiedField: "x-client-verify",
  verifiedValue: "SUCCESS",
};
const PAYMENT = { payment: { describe: () => "Pay" } } as unknown as AuthorizationServerOptions[
  "authorizationDetailTypes"
];

test("only enabled features are advertised", async () => {
  const on = await describe({
    certificateProxy: CERTIFICATES,
    authorizationDetailTypes: PAYMENT,
    trustedIssuers: [{ issuer: "https://idp.example", jwks: { keys: [] } }],
    requirePushedRequests: true,
    signingAlgorithms: ["Ed25519", "RS256"],
  });
  assert.is(on.tls_client_certificate_bound_access_tokens, true);
  assert.equal(on.token_endpoint_auth_methods_supported.slice(-3), [
    "tls_client_auth",
    "self_signed_tls_client_auth",
    "none",
  ]);
  assert.equal(on.authorization_details_types_supported, ["payment"]);
  assert.ok(on.grant_types_supported.includes("urn:ietf:params:oauth:grant-type:jwt-bearer"));
  assert.equal(on.authorization_grant_profiles_supported, ["urn:ietf:params:oauth:grant-profile:id-jag"]);
  assert.is(on.require_pushed_authorization_requests, true);
  assert.equal(on.introspection_signing_alg_values_supported, ["Ed25519", "RS256"]);
  const off = await describe({ registration: "off", clientMetadataDocuments: () => false, acrValues: [] });
  assert.not.ok("registration_endpoint" in off);
  assert.not.ok("acr_values_supported" in off);
  assert.is(off.client_id_metadata_document_supported, false);
});

test("RFC 8414 section 3: the OpenID Connect URLs, before and after the path of the issuer, return the same document", async () => {
  for (const issuer of ["https://as.example", "https://as.example/tenant"]) {
    const base = new URL(issuer).pathname.replace(/\/$/, "");
    const expected = await read(`/.well-known/oauth-authorization-server${base}`, { issuer });
    assert.is(expected.issuer, issuer);
    for (
      const path of [`${base}/.well-known/openid-configuration`, `/.well-known/openid-configuration${base}`]
    ) {
      assert.equal(await read(path, { issuer }), expected, path);
    }
  }
});

test("CORS allows every origin to read a 404 below /.well-known, and no other 404", async () => {
  const server = await newServer();
  const headers = { origin: "https://page.example" };
  const origin = async (path: string) => {
    const response = await server.send(path, { headers });
    assert.is(response.status, 404);
    return response.headers.get("access-control-allow-origin");
  };
  assert.is(await origin("/.well-known/oauth-protected-resource/nothing"), "*");
  assert.is(await origin("/oauth/nothing"), null);
});

test("RFC 9728 section 2: the protected resource metadata has these members and the enabled features", async () => {
  const path = "/.well-known/oauth-protected-resource/mcp";
  const minimal = {
    resource: "https://as.example/mcp",
    authorization_servers: ["https://as.example"],
    scopes_supported: ["profile", "read", "write"],
    bearer_methods_supported: ["header"],
    resource_name: "the tools",
    dpop_signing_alg_values_supported: ALGORITHMS,
    dpop_bound_access_tokens_required: false,
  };
  assert.equal(await read(path), minimal);
  const more = { certificateProxy: CERTIFICATES, authorizationDetailTypes: PAYMENT };
  assert.equal(await read(path, more), {
    ...minimal,
    tls_client_certificate_bound_access_tokens: true,
    authorization_details_types_supported: ["payment"],
  });
});

test.run();
