import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { CHALLENGE, newServer, transactionOf, VERIFIER } from "../test_server.ts";
import { newProvider, type TestProvider } from "./test_provider.ts";

const test = suite("oauth/openid/client_metadata");
const REDIRECT = "https://rp.example/cb";
const DEVICE_CODE = "urn:ietf:params:oauth:grant-type:device_code";

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

test("Core section 8.1: a sector identifier needs redirect URIs that it lists", async () => {
  const redirect_uris = [REDIRECT];
  const connect = () => Promise.resolve(new Response(JSON.stringify(redirect_uris)));
  const server = await newProvider({}, { connect });
  const metadata = {
    grant_types: [DEVICE_CODE],
    subject_type: "pairwise",
    sector_identifier_uri: "https://rp.example/uris.json",
  };
  const { status, body } = await register(server, { ...metadata, redirect_uris: undefined });
  assert.equal([status, body.error], [400, "invalid_client_metadata"]);
});

/** The `sub` that a client without authentication gets in the device flow. */
async function subjectByDevice(server: TestProvider, client_id: string): Promise<unknown> {
  const cookie = await server.signIn();
  const asked = await server.send("/oauth/device_authorization", { form: { client_id, scope: "openid" } });
  const { device_code, user_code } = await asked.json();
  const page = await (await server.send("/device", { form: { user_code }, headers: { cookie } })).text();
  const form = { transaction: transactionOf(page), decision: "approve" };
  await server.send("/device", { form, headers: { cookie } });
  const response = await server.send("/oauth/token", {
    form: { grant_type: DEVICE_CODE, client_id, device_code },
  });
  return (await server.verify((await response.json()).id_token)).claims.sub;
}

test("attack: a device client that registered itself does not join the sector of redirect URIs that it never uses", async () => {
  const redirect_uris = ["https://victim.example/cb"];
  const connect = () => Promise.resolve(new Response(JSON.stringify(redirect_uris)));
  const victim = { id: "victim", secret: "secret of victim", redirect_uris };
  const server = await newProvider({ subjectTypes: ["pairwise"] }, { connect }, [
    victim,
    { id: "tv", redirect_uris, grant_types: [DEVICE_CODE] },
  ]);
  const { claims } = await server.signInWith({ client_id: "victim", redirect_uri: redirect_uris[0] });
  const own = { redirect_uris, token_endpoint_auth_method: "none" };
  const subjects = new Set([claims.sub]);
  const attempts = [
    { ...own, grant_types: [DEVICE_CODE] },
    { ...own, grant_types: ["authorization_code", DEVICE_CODE] },
    { ...own, grant_types: [DEVICE_CODE], sector_identifier_uri: "https://victim.example/uris.json" },
  ];
  for (const metadata of attempts) {
    const { status, body } = await register(server, metadata);
    assert.is(status, 201);
    subjects.add(await subjectByDevice(server, body.client_id));
  }
  assert.is(subjects.size, 1 + attempts.length);
  assert.is(await subjectByDevice(server, "tv"), claims.sub, "a client of the operator is in its sector");
});

test("attack: a redirect URI on loopback does not get the subjects of the host of another one", async () => {
  const redirect_uris = ["https://victim.example/cb", "http://127.0.0.1/cb"];
  const victim = { id: "victim", secret: "secret of victim", redirect_uris: [redirect_uris[0]!] };
  const store = memoryStore();
  // Registered before the operator turned OpenID Connect on.
  const { body } = await register(await newServer({ store }), {
    redirect_uris,
    token_endpoint_auth_method: "none",
  });
  const server = await newProvider({ subjectTypes: ["pairwise"] }, { store }, [victim]);
  const { claims } = await server.signInWith({ client_id: "victim", redirect_uri: redirect_uris[0] });
  const { client_id } = body;
  const redirect_uri = "http://127.0.0.1:4321/cb";
  const proof = { code_challenge: CHALLENGE, code_challenge_method: "S256" };
  const code = (await server.authorize({ client_id, redirect_uri, scope: "openid", ...proof })).get("code")!;
  const form = { grant_type: "authorization_code", client_id, redirect_uri, code, code_verifier: VERIFIER };
  const { id_token } = await (await server.send("/oauth/token", { form })).json();
  assert.is.not((await server.verify(id_token)).claims.sub, claims.sub);
});

test("with OpenID Connect off these members are ignored", async () => {
  const { status, body } = await register(await newServer(), { ...VALID, subject_type: "unknown" });
  assert.is(status, 201);
  assert.not.ok(Object.keys(VALID).some((name) => name in body));
});

test.run();
