import { suite } from "uvu";
import * as assert from "uvu/assert";
import { createTrivet, memoryStore } from "../mod.ts";
import { readJws } from "../crypto/jws.ts";
import type { AuthorizationServerOptions } from "./authorization_server.ts";
import { completeOpenId, OPENID_SCOPES } from "./openid/options.ts";
import { toClient } from "./clients/client.ts";
import type { ClientRegistration } from "./clients/client_registration.ts";
import { createAssertion, createProof, newKey, type TestKey } from "./test_keys.ts";
import { CHALLENGE, ISSUER, newServer, type TestServer, VERIFIER } from "./test_server.ts";

const test = suite("oauth/security_profile");
const TOKEN_URL = `${ISSUER}/oauth/token`;
const APP_URI = "https://app.example/cb";
const ASSERTION_TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

interface Fapi {
  readonly server: TestServer;
  /** The key of the client. */
  readonly key: TestKey;
  /** The key of its proofs. */
  readonly proofKey: TestKey;
}

async function newFapi(options: Partial<AuthorizationServerOptions> = {}): Promise<Fapi> {
  const key = await newKey("ES256");
  const app: ClientRegistration = {
    id: "app",
    jwks: { keys: [key.jwk] },
    redirect_uris: [APP_URI],
    grant_types: ["authorization_code", "refresh_token", "client_credentials"],
  };
  const clients = [app, { id: "old", secret: "old-secret", grant_types: ["client_credentials"] } as const];
  const server = await newServer({
    securityProfile: "fapi-2.0",
    requirePushedRequests: true,
    pushedRequestLifetime: 300,
    clients: clients.map((client) => toClient(client, 0)),
    ...options,
  });
  return { server, key, proofKey: await newKey("ES256") };
}

async function send(
  { server, key }: Fapi,
  path: string,
  form: Record<string, string | undefined>,
  dpop?: string,
): Promise<{ status: number; body: Record<string, string> }> {
  const client_assertion = await createAssertion(key, "app", ISSUER);
  const response = await server.send(path, {
    form: { client_assertion_type: ASSERTION_TYPE, client_assertion, ...form },
    headers: dpop === undefined ? {} : { dpop },
  });
  return { status: response.status, body: await response.json() };
}

const REQUEST = {
  response_type: "code",
  redirect_uri: APP_URI,
  scope: "read",
  code_challenge: CHALLENGE,
  code_challenge_method: "S256",
};

async function getTokens(fapi: Fapi, scope = "read"): Promise<Record<string, string>> {
  const { body: { request_uri } } = await send(fapi, "/oauth/par", { ...REQUEST, scope });
  const code = (await fapi.server.authorize({ client_id: "app", request_uri })).get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI, code_verifier: VERIFIER };
  const { status, body } = await send(
    fapi,
    "/oauth/token",
    form,
    await createProof(fapi.proofKey, TOKEN_URL),
  );
  assert.equal([status, body.token_type], [200, "DPoP"]);
  return body;
}

test("section 5.3.2.1: tokens are bound to a key, and a request without proof is refused", async () => {
  const fapi = await newFapi();
  await getTokens(fapi);
  const { status, body } = await send(fapi, "/oauth/token", { grant_type: "client_credentials" });
  assert.equal([status, body.error], [400, "invalid_dpop_proof"]);
});

test("section 5.3.2.1: a client with a secret is refused", async () => {
  const fapi = await newFapi();
  const response = await fapi.server.send("/oauth/token", {
    form: { grant_type: "client_credentials", client_id: "old", client_secret: "old-secret" },
    headers: { dpop: await createProof(fapi.proofKey, TOKEN_URL) },
  });
  assert.equal([response.status, (await response.json()).error], [401, "invalid_client"]);
});

test("section 5.3.2.1: refresh tokens are not rotated", async () => {
  const fapi = await newFapi();
  const { refresh_token } = await getTokens(fapi);
  const refresh = async () =>
    await send(
      fapi,
      "/oauth/token",
      { grant_type: "refresh_token", refresh_token },
      await createProof(fapi.proofKey, TOKEN_URL),
    );
  const [first, second] = [await refresh(), await refresh()];
  assert.equal([first.status, first.body.refresh_token], [200, refresh_token]);
  assert.equal([second.status, second.body.refresh_token], [200, refresh_token]);
  assert.is.not(first.body.access_token, second.body.access_token);
});

test("section 5.3.2.2: a pushed request needs PKCE and redirect_uri", async () => {
  const fapi = await newFapi();
  for (const name of ["code_challenge", "redirect_uri"]) {
    const more = name === "code_challenge" ? { code_challenge_method: undefined } : {};
    const { status, body } = await send(fapi, "/oauth/par", { ...REQUEST, ...more, [name]: undefined });
    assert.equal([status, body.error], [400, "invalid_request"], name);
  }
});

test("section 5.4.1: RS256 is refused in proofs, and not announced", async () => {
  const fapi = await newFapi();
  const proof = async (alg: "RS256" | "PS256") => await createProof(await newKey(alg), TOKEN_URL);
  const form = { grant_type: "client_credentials" };
  assert.is((await send(fapi, "/oauth/token", form, await proof("RS256"))).body.error, "invalid_dpop_proof");
  assert.is((await send(fapi, "/oauth/token", form, await proof("PS256"))).status, 200);
  const metadata = await (await fapi.server.send("/.well-known/oauth-authorization-server")).json();
  assert.equal(metadata.dpop_signing_alg_values_supported, ["ES256", "Ed25519", "EdDSA", "PS256"]);
  assert.equal(metadata.token_endpoint_auth_methods_supported, ["private_key_jwt"]);
});

test("a client that registers itself needs a key", async () => {
  const { server } = await newFapi();
  const response = await server.send("/oauth/register", {
    method: "POST",
    headers: { "content-type": "application/json" },
    form: JSON.stringify({ redirect_uris: [APP_URI], token_endpoint_auth_method: "none" }),
  });
  assert.equal([response.status, (await response.json()).error], [400, "invalid_client_metadata"]);
});

test("section 5.3.2.2: redirects of the browser have status 303", async () => {
  const fapi = await newFapi();
  const login = await fapi.server.send("/login?redirect=%2F", {
    form: { username: "alice", password: "wonderland" },
  });
  assert.is(login.status, 303);
});

test("section 5.4.1: with OpenID Connect, ID tokens have an algorithm of the profile, and never RS256", async () => {
  for (const alg of ["ES256", "PS256"] as const) {
    const scopes = { read: "Read your data", ...OPENID_SCOPES };
    const fapi = await newFapi({ openid: completeOpenId(true), scopes, signingAlgorithms: [alg] });
    const { id_token } = await getTokens(fapi, "openid");
    assert.is(readJws(id_token!)?.header.alg, alg);
    const metadata = await (await fapi.server.send("/.well-known/openid-configuration")).json();
    assert.equal(metadata.id_token_signing_alg_values_supported, [alg]);
    assert.equal(metadata.userinfo_signing_alg_values_supported, [alg]);
  }
});

test("UserInfo answers a token with a proof of its key, and no other", async () => {
  const scopes = { read: "Read your data", profile: "See your name", ...OPENID_SCOPES };
  const fapi = await newFapi({ openid: completeOpenId(true), scopes });
  const { id_token, access_token: token } = await getTokens(fapi, "openid profile");
  const path = "/oauth/userinfo";
  const ask = async (key: TestKey, scheme = "DPoP") =>
    await fapi.server.send(path, {
      headers: {
        authorization: `${scheme} ${token}`,
        dpop: await createProof(key, ISSUER + path, { htm: "GET", token: token! }),
      },
    });
  const answered = await ask(fapi.proofKey);
  assert.is(answered.status, 200);
  assert.is((await answered.json()).sub, readJws(id_token!)?.claims.sub);
  assert.is((await ask(await newKey("ES256"))).status, 401);
  assert.is((await ask(fapi.proofKey, "Bearer")).status, 401);
});

test("attack: a stored client that names RS256 gets it in no response under the profile", async () => {
  const scopes = { read: "Read your data", ...OPENID_SCOPES };
  const fapi = await newFapi({ openid: completeOpenId(true), scopes });
  const client: ClientRegistration = {
    id: "app",
    jwks: { keys: [fapi.key.jwk] },
    redirect_uris: [APP_URI],
    id_token_signed_response_alg: "RS256",
    userinfo_signed_response_alg: "RS256",
    authorization_signed_response_alg: "RS256",
    introspection_signed_response_alg: "RS256",
  };
  const clients = [toClient(client, 0)];
  const stored = await newFapi({
    openid: completeOpenId(true),
    scopes,
    clients,
    responseModes: ["jwt"],
  });
  const app = { ...stored, key: fapi.key };
  const { id_token, access_token: token } = await getTokens(app, "openid");
  assert.is(readJws(id_token!)?.header.alg, "ES256");
  const form = { ...REQUEST, response_mode: "jwt", prompt: "consent" };
  const { body: { request_uri } } = await send(app, "/oauth/par", form);
  const answer = await stored.server.authorize({ client_id: "app", request_uri });
  assert.is(readJws(answer.get("response")!)?.header.alg, "ES256");
  const introspection = await stored.server.send("/oauth/introspect", {
    form: {
      client_assertion_type: ASSERTION_TYPE,
      client_assertion: await createAssertion(fapi.key, "app", ISSUER),
      token,
    },
    headers: { accept: "application/token-introspection+jwt" },
  });
  assert.is(readJws(await introspection.text())?.header.alg, "ES256");
  const { keys } = await (await stored.server.send("/.well-known/jwks.json")).json();
  assert.equal(keys.map(({ alg }: { alg: string }) => alg), ["ES256"]);
});

test("options that the profile does not allow are refused", () => {
  const create = (oauth: object) => () =>
    createTrivet({
      issuer: ISSUER,
      store: memoryStore(),
      oauth: { securityProfile: "fapi-2.0", ...oauth },
    });
  for (
    const oauth of [
      { clients: [{ id: "web", secret: "a-secret-of-a-client", redirect_uris: [APP_URI] }] },
      { clients: [{ id: "app", redirect_uris: [APP_URI] }] },
      { codeLifetime: 61 },
      { pushedRequestLifetime: 600 },
      { signingAlgorithms: ["RS256"] },
      { signingAlgorithms: ["PS256", "RS256"], openid: true },
      {
        openid: true,
        clients: [{
          id: "app",
          jwks_uri: "https://app.example/jwks",
          redirect_uris: [APP_URI],
          id_token_signed_response_alg: "RS256",
        }],
      },
    ]
  ) assert.throws(create(oauth), /FAPI 2\.0/, JSON.stringify(oauth));
  create({})();
  create({ openid: true })();
  create({ openid: true, signingAlgorithms: ["PS256"] })();
});

test.run();
