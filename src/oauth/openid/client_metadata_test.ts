import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CHALLENGE, newServer } from "../test_server.ts";
import { newProvider, type TestProvider } from "./test_provider.ts";

const test = suite("oauth/openid/client_metadata");
const REDIRECT = "https://rp.example/cb";

async function register(server: Pick<TestProvider, "send">, metadata: Record<string, unknown>) {
  const response = await server.send("/oauth/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    form: JSON.stringify({ redirect_uris: [REDIRECT], ...metadata }),
  });
  return { status: response.status, body: await response.json() };
}

const VALID = {
  subject_type: "pairwise",
  id_token_signed_response_alg: "ES256",
  userinfo_signed_response_alg: "RS256",
  default_max_age: 3600,
  require_auth_time: true,
  default_acr_values: ["password"],
  initiate_login_uri: "https://rp.example/login",
  post_logout_redirect_uris: ["https://rp.example/out", "https://rp.example/out?a=b"],
  backchannel_logout_uri: "https://rp.example/backchannel",
  backchannel_logout_session_required: true,
};

test("Registration section 3.2: the response has all registered members", async () => {
  const server = await newProvider();
  const { status, body } = await register(server, VALID);
  assert.is(status, 201);
  for (const [name, value] of Object.entries(VALID)) assert.equal(body[name], value, name);
  const authorization = `Bearer ${body.registration_access_token}`;
  const read = await server.send(new URL(body.registration_client_uri).pathname, {
    headers: { authorization },
  });
  assert.equal((await read.json()).post_logout_redirect_uris, VALID.post_logout_redirect_uris);
});

test("Registration section 3.3: an invalid member is refused", async () => {
  const server = await newProvider();
  const invalid: readonly Record<string, unknown>[] = [
    { subject_type: "secret" },
    { id_token_signed_response_alg: "none" },
    { id_token_signed_response_alg: "HS256" },
    { userinfo_signed_response_alg: "HS256" },
    { default_max_age: "60" },
    { default_max_age: -1 },
    { require_auth_time: "yes" },
    { default_acr_values: "password" },
    { initiate_login_uri: "http://rp.example/login" },
    { post_logout_redirect_uris: "https://rp.example/out" },
    { post_logout_redirect_uris: ["javascript:alert(1)"] },
    { post_logout_redirect_uris: ["https://rp.example/out#here"] },
    { id_token_encrypted_response_alg: "RSA-OAEP" },
    { userinfo_encrypted_response_alg: "RSA-OAEP" },
    { backchannel_logout_session_required: 1 },
  ];
  for (const metadata of invalid) {
    const { status, body } = await register(server, metadata);
    assert.equal([status, body.error], [400, "invalid_client_metadata"], JSON.stringify(metadata));
  }
});

test("attack: server-side request forgery by backchannel_logout_uri or sector_identifier_uri is refused", async () => {
  const fetched: string[] = [];
  const connect = (url: string) => {
    fetched.push(url);
    return Promise.resolve(new Response("[]"));
  };
  const server = await newProvider({}, { connect });
  for (
    const url of [
      "http://rp.example/out",
      "https://127.0.0.1/out",
      "https://[::1]/out",
      "https://169.254.169.254/latest/meta-data",
      "https://10.0.0.1/out",
      "https://localhost/out",
      "https://metadata.internal/out",
      "https://user:secret@rp.example/out",
    ]
  ) {
    for (const name of ["backchannel_logout_uri", "sector_identifier_uri"]) {
      assert.is(
        (await register(server, { [name]: url })).body.error,
        "invalid_client_metadata",
        `${name} ${url}`,
      );
    }
  }
  assert.equal(fetched, []);
});

test("Core section 8.1: the sector identifier must list the redirect URIs, and several hosts need one", async () => {
  const uris = [REDIRECT, "https://other.example/cb"];
  let listed: unknown = uris;
  const connect = () => Promise.resolve(new Response(JSON.stringify(listed)));
  const metadata = { subject_type: "pairwise", redirect_uris: uris };
  const sector_identifier_uri = "https://sector.example/uris.json";
  const server = await newProvider({}, { connect });
  assert.is((await register(server, metadata)).body.error, "invalid_client_metadata");
  assert.is((await register(server, { ...metadata, sector_identifier_uri })).status, 201);
  for (const wrong of [[REDIRECT], { uris }, "x"]) {
    listed = wrong;
    const other = await newProvider({}, { connect });
    const { body } = await register(other, { ...metadata, sector_identifier_uri });
    assert.is(body.error, "invalid_client_metadata", JSON.stringify(wrong));
  }
});

test("Core section 8.1: the sector identifier of a client metadata document must list its redirect URIs", async () => {
  const id = "https://rp.example/client.json";
  const sector_identifier_uri = "https://sector.example/uris.json";
  const redirect_uris = [REDIRECT, "https://other.example/cb"];
  const document = { client_id: id, redirect_uris, subject_type: "pairwise", sector_identifier_uri };
  const ask = async (listed: unknown) => {
    const fetched: string[] = [];
    const connect = (url: string) => {
      fetched.push(url);
      return Promise.resolve(new Response(JSON.stringify(url === id ? document : listed)));
    };
    const server = await newProvider({}, { connect });
    const cookie = await server.signIn();
    const path = server.authorizePath({
      client_id: id,
      redirect_uri: REDIRECT,
      scope: "openid",
      code_challenge: CHALLENGE,
      code_challenge_method: "S256",
    });
    const statuses = [];
    for (let i = 0; i < 2; i++) statuses.push((await server.send(path, { headers: { cookie } })).status);
    return { statuses, fetched };
  };
  assert.equal(await ask(redirect_uris), { statuses: [200, 200], fetched: [id, sector_identifier_uri] });
  for (const wrong of [[REDIRECT], { redirect_uris }]) {
    const { statuses } = await ask(wrong);
    assert.equal(statuses, [400, 400], JSON.stringify(wrong));
  }
});

test("with OpenID Connect off these members are ignored", async () => {
  const { status, body } = await register(await newServer(), { ...VALID, subject_type: "unknown" });
  assert.is(status, 201);
  assert.not.ok(Object.keys(VALID).some((name) => name in body));
});

test.run();
