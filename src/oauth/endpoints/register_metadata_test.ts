import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newKey } from "../test_keys.ts";
import { register, WEB } from "./test_registration.ts";
import { CHALLENGE, newServer } from "../test_server.ts";

const test = suite("oauth/register_metadata");

const INVALID: Record<string, [unknown, string]> = {
  "no JSON": ["{", "invalid_client_metadata"],
  "an array": [[], "invalid_client_metadata"],
  "half of a surrogate pair in the name": [{ ...WEB, client_name: "App \ud800" }, "invalid_client_metadata"],
  "half of a surrogate pair in a list": [{ ...WEB, contacts: ["\udc00"] }, "invalid_client_metadata"],
  "half of a surrogate pair far inside": [
    `{"client_name":${"[".repeat(30_000)}"\\ud800"${"]".repeat(30_000)}}`,
    "invalid_client_metadata",
  ],
  "no redirect URI": [{}, "invalid_redirect_uri"],
  "redirect URIs that are not a list": [{ redirect_uris: "https://a.example" }, "invalid_redirect_uri"],
  "a redirect URI over http": [{ redirect_uris: ["http://client.example/cb"] }, "invalid_redirect_uri"],
  "a redirect URI with a fragment": [
    { redirect_uris: ["https://client.example/cb#x"] },
    "invalid_redirect_uri",
  ],
  "a javascript redirect URI": [{ redirect_uris: ["javascript:alert(1)"] }, "invalid_redirect_uri"],
  "a data redirect URI among valid ones": [
    { redirect_uris: ["https://a.example/cb", "data:text/html,x"] },
    "invalid_redirect_uri",
  ],
  "a relative redirect URI": [{ redirect_uris: ["/cb"] }, "invalid_redirect_uri"],
  "a redirect URI with a user": [{ redirect_uris: ["https://good@evil.example/cb"] }, "invalid_redirect_uri"],
  "the implicit grant": [{ ...WEB, grant_types: ["implicit"] }, "invalid_client_metadata"],
  "the password grant": [{ ...WEB, grant_types: ["password"] }, "invalid_client_metadata"],
  "client_credentials, which is not open to dynamic registration": [
    { ...WEB, grant_types: ["client_credentials"] },
    "invalid_client_metadata",
  ],
  "the refresh_token grant alone": [{ ...WEB, grant_types: ["refresh_token"] }, "invalid_client_metadata"],
  "an unsupported response type": [{ ...WEB, response_types: ["token"] }, "invalid_client_metadata"],
  "no response type for the code grant": [{ ...WEB, response_types: [] }, "invalid_client_metadata"],
  "an unknown authentication method": [
    { ...WEB, token_endpoint_auth_method: "client_secret_jwt" },
    "invalid_client_metadata",
  ],
  "private_key_jwt without keys": [
    { ...WEB, token_endpoint_auth_method: "private_key_jwt" },
    "invalid_client_metadata",
  ],
  "both jwks and jwks_uri": [
    { ...WEB, jwks: { keys: [] }, jwks_uri: "https://client.example/keys" },
    "invalid_client_metadata",
  ],
  "keys on a private host": [{ ...WEB, jwks_uri: "https://169.254.169.254/keys" }, "invalid_client_metadata"],
  "a private key": [
    { ...WEB, jwks: { keys: [{ kty: "EC", crv: "P-256", x: "AA", y: "AA", d: "AA" }] } },
    "invalid_client_metadata",
  ],
  "a scope that is not open to dynamic registration": [{ ...WEB, scope: "admin" }, "invalid_client_metadata"],
  "a javascript client_uri": [{ ...WEB, client_uri: "javascript:alert(1)" }, "invalid_client_metadata"],
  "a name that is not a string": [{ ...WEB, client_name: { toString: 1 } }, "invalid_client_metadata"],
  "null": ["null", "invalid_client_metadata"],
  "51 redirect URIs": [
    { redirect_uris: Array.from({ length: 51 }, (_, i) => `https://client.example/${i}`) },
    "invalid_redirect_uri",
  ],
  "a redirect URI of 3,000 characters": [
    { redirect_uris: ["https://client.example/" + "x".repeat(3000)] },
    "invalid_redirect_uri",
  ],
  "redirect URIs that are numbers": [{ redirect_uris: [1, 2] }, "invalid_redirect_uri"],
  "only a private-use scheme that RFC 8252 does not allow": [
    { redirect_uris: ["app:/cb"] },
    "invalid_redirect_uri",
  ],
  "grant types that are not a list": [
    { ...WEB, grant_types: "authorization_code" },
    "invalid_client_metadata",
  ],
  "only unsupported grant types": [
    { ...WEB, grant_types: ["implicit", "password", "no_such_grant"] },
    "invalid_client_metadata",
  ],
  "response types that are not a list": [{ ...WEB, response_types: "code" }, "invalid_client_metadata"],
  "a redirect URI that parsers read differently": [
    { redirect_uris: ["https://a.example/cb", "https://good.example\\@evil.example/cb"] },
    "invalid_redirect_uri",
  ],
  "a redirect URI whose host is not normalized": [
    { redirect_uris: ["http://0x7f.1/cb"] },
    "invalid_redirect_uri",
  ],
  "jwks without keys": [{ ...WEB, jwks: {} }, "invalid_client_metadata"],
  "jwks with an empty list of keys": [{ ...WEB, jwks: { keys: [] } }, "invalid_client_metadata"],
  "21 keys in jwks": [
    { ...WEB, jwks: { keys: Array.from({ length: 21 }, () => ({ kty: "EC" })) } },
    "invalid_client_metadata",
  ],
  "authorization_details_types that is not a list": [
    { ...WEB, authorization_details_types: "payment" },
    "invalid_client_metadata",
  ],
  "an unsupported introspection algorithm": [
    { ...WEB, introspection_signed_response_alg: "none" },
    "invalid_client_metadata",
  ],
  "a flag that is a string": [{ ...WEB, dpop_bound_access_tokens: "yes" }, "invalid_client_metadata"],
  "a name of 3,000 characters": [{ ...WEB, client_name: "x".repeat(3000) }, "invalid_client_metadata"],
};

for (const [name, [metadata, error]] of Object.entries(INVALID)) {
  test(`RFC 7591 section 3.2.2: ${name} gets ${error}`, async () => {
    const server = await newServer();
    const { status, body } = await register(server, metadata);
    assert.equal([status, body.error], [400, error]);
    assert.equal(Object.keys(body), ["error", "error_description"]);
    assert.equal(await server.store.list(["client"]), []);
  });
}

test("the error for jwks without keys or with more than 20 keys names the member and the limits", async () => {
  const server = await newServer();
  for (const keys of [[], Array.from({ length: 21 }, () => ({ kty: "EC" })), undefined]) {
    const { body } = await register(server, { ...WEB, jwks: { keys } });
    assert.match(body.error_description, /\bjwks\b.*\b1\b.*\b20\b/);
  }
});

test("a member that is null counts as omitted", async () => {
  const server = await newServer();
  const names = `client_uri contacts scope jwks jwks_uri grant_types response_types token_endpoint_auth_method
    token_endpoint_auth_signing_alg authorization_details_types introspection_signed_response_alg
    dpop_bound_access_tokens request_object_signing_alg request_uris client_name#de`.split(/\s+/);
  const expected = (await register(server, WEB)).body;
  const { status, body } = await register(server, {
    ...WEB,
    ...Object.fromEntries(names.map((name) => [name, null])),
  });
  assert.is(status, 201);
  assert.equal(Object.keys(body).sort(), Object.keys(expected).sort());
  const missing = await register(server, { ...WEB, redirect_uris: null });
  assert.equal([missing.status, missing.body.error], [400, "invalid_redirect_uri"]);
});

test("RFC 7591 section 2: informational metadata is stored and returned, unless it is malformed", async () => {
  const server = await newServer();
  const valid = {
    contacts: ["security@client.example"],
    application_type: "native",
    token_endpoint_auth_signing_alg: "ES256",
    software_id: "4NRB1-0XZABZI9E6-5SM3R",
    dpop_bound_access_tokens: true,
  };
  const { body } = await register(server, { ...WEB, ...valid });
  for (const [name, value] of Object.entries(valid)) assert.equal(body[name], value, name);
  const malformed = {
    contacts: Array.from({ length: 21 }, () => "a@client.example"),
    application_type: "toaster",
    token_endpoint_auth_signing_alg: "none",
    dpop_bound_access_tokens: false,
  };
  const second = (await register(server, { ...WEB, ...malformed })).body;
  for (const name of Object.keys(malformed)) assert.not.ok(name in second, name);
  const web = (await register(server, { ...WEB, application_type: "web", contacts: [1] })).body;
  assert.equal([web.application_type, web.contacts], ["web", undefined]);
});

test("token_endpoint_auth_signing_alg of a client that authenticates with a key must be supported", async () => {
  const { jwk } = await newKey("ES256");
  const keyed = { ...WEB, token_endpoint_auth_method: "private_key_jwt", jwks: { keys: [jwk] } };
  for (const alg of ["none", "HS256", "RS1", 1]) {
    const { status, body } = await register(await newServer(), {
      ...keyed,
      token_endpoint_auth_signing_alg: alg,
    });
    assert.equal([status, body.error], [400, "invalid_client_metadata"], String(alg));
  }
  // FAPI 2.0 section 5.4.1 has no RS256.
  for (const [alg, status] of [["RS256", 400], ["PS256", 201]] as const) {
    const server = await newServer({ securityProfile: "fapi-2.0" });
    const response = await register(server, { ...keyed, token_endpoint_auth_signing_alg: alg });
    assert.is(response.status, status, alg);
  }
});

test("only the allowed redirect URIs of an editor are registered and returned", async () => {
  const uris = [
    "cursor://anysphere.cursor-mcp/oauth/callback",
    "http://localhost:8787/callback",
    "https://www.cursor.com/agents/mcp/oauth/callback",
  ];
  const metadata = { redirect_uris: uris, token_endpoint_auth_method: "none" };
  const open = await register(await newServer(), metadata);
  assert.equal([open.status, open.body.redirect_uris], [201, uris]);
  const strict = await register(await newServer({ redirectSchemes: [] }), metadata);
  assert.equal([strict.status, strict.body.redirect_uris], [201, uris.slice(1)]);
  const own = { ...metadata, redirect_uris: ["unheard://of/cb", ...uris] };
  assert.equal((await register(await newServer(), own)).body.redirect_uris, uris);
});

test("a private-use redirect URI is matched exactly, and the page does not show its host", async () => {
  const server = await newServer();
  const uri = "cursor://claude.ai/oauth/callback";
  const { body } = await register(server, { redirect_uris: [uri], token_endpoint_auth_method: "none" });
  const parameters = {
    client_id: body.client_id,
    redirect_uri: uri,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  };
  const cookie = await server.signIn();
  const page = await (await server.send(server.authorizePath(parameters), { headers: { cookie } })).text();
  assert.match(page, "<strong>cursor:</strong>");
  assert.not.match(page.replace(/<[^>]*>/g, ""), "claude.ai");
  const other = { ...parameters, redirect_uri: "cursor://claude.ai/oauth/callback2" };
  assert.is((await server.send(server.authorizePath(other), { headers: { cookie } })).status, 400);
});

test("RFC 7591 section 3.2.1: unsupported grant types and response types are omitted from the response", async () => {
  const server = await newServer();
  const { status, body } = await register(server, {
    ...WEB,
    grant_types: ["authorization_code", "implicit", "password", "client_credentials", "urn:unheard:of"],
    response_types: ["code", "token", "code id_token"],
  });
  assert.is(status, 201);
  assert.equal([body.grant_types, body.response_types], [["authorization_code"], ["code"]]);
});

test("the registered scope is the default of the client, not a limit", async () => {
  const server = await newServer();
  const { body } = await register(server, {
    ...WEB,
    scope: "read unknown",
    token_endpoint_auth_method: "none",
  });
  assert.is(body.scope, "read");
  const cookie = await server.signIn();
  const ask = async (scope?: string) => {
    const parameters = {
      client_id: body.client_id,
      redirect_uri: WEB.redirect_uris[0]!,
      scope,
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
    };
    return await (await server.send(server.authorizePath(parameters), { headers: { cookie } })).text();
  };
  assert.not.match(await ask(), "Change your data");
  assert.match(await ask("read write"), "Change your data");
});

test("a supported method of token_endpoint_auth_methods_supported is chosen", async () => {
  const server = await newServer();
  const key = await newKey();
  const { body } = await register(server, {
    ...WEB,
    token_endpoint_auth_methods_supported: ["private_key_jwt", "none"],
    jwks: { keys: [key.jwk] },
  });
  assert.is(body.token_endpoint_auth_method, "none");
});

test("emoji in metadata are kept, also as the two escapes of a pair", async () => {
  const server = await newServer();
  const { status, body } = await register(
    server,
    JSON.stringify({ ...WEB, client_name: "App ?" }).replace("?", "\\ud83d\\ude00"),
  );
  assert.equal([status, body.client_name], [201, "App \u{1f600}"]);
});

test("metadata of another media type is refused", async () => {
  const server = await newServer();
  for (const type of ["text/plain", "application/x-www-form-urlencoded", ""]) {
    const response = await server.send("/oauth/register", {
      form: JSON.stringify(WEB),
      headers: { "content-type": type },
    });
    assert.equal([response.status, (await response.json()).error], [400, "invalid_client_metadata"], type);
  }
});

test.run();
