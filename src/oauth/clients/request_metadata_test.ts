import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { newKey } from "../test_keys.ts";
import { newServer } from "../test_server.ts";

const test = suite("oauth/request_metadata");
const ON: Partial<AuthorizationServerOptions> = { requestObjects: "optional", responseModes: ["jwt"] };
const { jwk } = await newKey();

/** Registers a client with these members. */
async function register(metadata: object, options: Partial<AuthorizationServerOptions> = ON) {
  const server = await newServer(options);
  const redirect_uris = ["https://a.example/cb"];
  const response = await server.send("/oauth/register", {
    form: JSON.stringify({ redirect_uris, jwks: { keys: [jwk] }, ...metadata }),
    headers: { "content-type": "application/json" },
  });
  return { status: response.status, body: await response.json() };
}

const GOOD = {
  request_object_signing_alg: "EdDSA",
  require_signed_request_object: true,
  request_uris: ["https://a.example/request.jwt"],
  authorization_signed_response_alg: "ES256",
};

test("RFC 9101 section 10.5 and JARM section 3: the members are registered and returned", async () => {
  const { status, body } = await register(GOOD);
  assert.is(status, 201);
  for (const [name, value] of Object.entries(GOOD)) assert.equal(body[name], value, name);
});

for (
  const [name, value] of [
    ["request_object_signing_alg", "none"],
    ["request_object_signing_alg", "HS256"],
    ["require_signed_request_object", "true"],
    ["request_uris", "https://a.example/"],
    ["request_uris", ["http://a.example/"]],
    ["request_uris", ["https://127.0.0.1/"]],
    ["request_uris", ["https://metadata.internal/"]],
    ["request_uris", ["https://a.example/#hash"]],
    ["request_uris", [`https://a.example/${"x".repeat(512)}`]],
    ["request_uris", Array(21).fill("https://a.example/")],
    ["authorization_signed_response_alg", "none"],
    ["authorization_signed_response_alg", "RS256"],
  ] as const
) {
  test(`${name} ${JSON.stringify(value).slice(0, 60)} is refused with invalid_client_metadata`, async () => {
    const { status, body } = await register({ [name]: value });
    assert.equal([status, body.error], [400, "invalid_client_metadata"]);
  });
}

test("require_signed_request_object requires keys", async () => {
  const { body } = await register({ require_signed_request_object: true, jwks: undefined });
  assert.is(body.error, "invalid_client_metadata");
});

test("members of a feature that is off are ignored", async () => {
  const { status, body } = await register({ ...GOOD, request_object_signing_alg: "none" }, {});
  assert.is(status, 201);
  for (const name of Object.keys(GOOD)) assert.is(body[name], undefined, name);
});

test.run();
