import { suite } from "uvu";
import * as assert from "uvu/assert";
import { JWS_ALGORITHMS, type JwsAlgorithm } from "../../crypto/jws.ts";
import { randomId } from "../../crypto/secret.ts";
import { toClient } from "./client.ts";
import { clientKey } from "../records/client_record.ts";
import { createAssertion, newKey, sign, type TestKey } from "../test_keys.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";

const test = suite("oauth/client_assertion");
const REDIRECT = "https://client.example/cb";
const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

async function newSigner(alg: JwsAlgorithm = "ES256") {
  const key = await newKey(alg, "k1");
  const clients = [
    toClient({ id: "signer", jwks: { keys: [key.jwk] }, grant_types: ["client_credentials"] }, 0),
  ];
  return { key, server: await newServer({ clients }) };
}

async function authenticate(
  server: TestServer,
  client_assertion: string,
  more: Record<string, string> = {},
): Promise<[number, string]> {
  const form = { grant_type: "client_credentials", client_assertion, client_assertion_type: TYPE, ...more };
  const response = await server.send("/oauth/token", { form });
  const body = await response.json();
  return [response.status, body.error ?? body.token_type];
}

for (const alg of JWS_ALGORITHMS) {
  test(`RFC 7523 section 2.2: a client authenticates with ${alg}, with and without client_id`, async () => {
    const { key, server } = await newSigner(alg);
    assert.equal(await authenticate(server, await createAssertion(key, "signer", ISSUER)), [200, "Bearer"]);
    assert.equal(
      await authenticate(server, await createAssertion(key, "signer", ISSUER), { client_id: "signer" }),
      [
        200,
        "Bearer",
      ],
    );
  });
}

const now = () => Math.floor(Date.now() / 1000);
const INVALID: Record<string, (key: TestKey) => Promise<string>> = {
  "aud is the token endpoint": (key) => createAssertion(key, "signer", ISSUER + "/oauth/token"),
  "aud is another server": (key) => createAssertion(key, "signer", "https://other.example"),
  "aud is an array": (key) => createAssertion(key, "signer", ISSUER, { aud: [ISSUER] }),
  "aud is missing": (key) => createAssertion(key, "signer", ISSUER, { aud: undefined }),
  "exp is in the past": (key) => createAssertion(key, "signer", ISSUER, { exp: now() - 61 }),
  "exp is missing": (key) => createAssertion(key, "signer", ISSUER, { exp: undefined }),
  "exp is too far in the future": (key) => createAssertion(key, "signer", ISSUER, { exp: now() + 3600 }),
  "exp is a string": (key) => createAssertion(key, "signer", ISSUER, { exp: String(now() + 60) }),
  "nbf is in the future": (key) => createAssertion(key, "signer", ISSUER, { nbf: now() + 120 }),
  "iat is in the future": (key) => createAssertion(key, "signer", ISSUER, { iat: now() + 120 }),
  "jti is missing": (key) => createAssertion(key, "signer", ISSUER, { jti: undefined }),
  "jti is empty": (key) => createAssertion(key, "signer", ISSUER, { jti: "" }),
  "jti is a number": (key) => createAssertion(key, "signer", ISSUER, { jti: 1 }),
  "jti is too long": (key) => createAssertion(key, "signer", ISSUER, { jti: "x".repeat(513) }),
  "iss differs from sub": (key) => createAssertion(key, "signer", ISSUER, { iss: "other" }),
  "the client is unknown": (key) => createAssertion(key, "unknown", ISSUER),
  "the signature is of another key with the same kid": async () =>
    await createAssertion(await newKey("ES256", "k1"), "signer", ISSUER),
  "kid is not registered": (key) => createAssertion(key, "signer", ISSUER, { header: { kid: "k2" } }),
  "the header has the key": async () => {
    const own = await newKey("ES256", "k1");
    return await createAssertion(own, "signer", ISSUER, {
      header: { jwk: own.jwk, jku: "https://evil.example/keys" },
    });
  },
  "alg is none": async (key) =>
    (await sign(key, { alg: "none", kid: "k1" }, {
      iss: "signer",
      sub: "signer",
      aud: ISSUER,
      exp: now() + 60,
      jti: randomId(""),
    })).replace(/[^.]*$/, ""),
  "alg is HS256": (key) => createAssertion(key, "signer", ISSUER, { header: { alg: "HS256" } }),
  "crit is present": (key) => createAssertion(key, "signer", ISSUER, { header: { crit: ["exp"] } }),
  "the assertion is not a JWT": () => Promise.resolve("signer"),
};
for (const [name, make] of Object.entries(INVALID)) {
  test(`an assertion is refused with invalid_client when ${name}`, async () => {
    const { key, server } = await newSigner();
    assert.equal(await authenticate(server, await make(key)), [401, "invalid_client"]);
  });
}

/** Registers a client that authenticates with its key, and sends a pushed request with an assertion of another key. */
async function pushAs(alg: string, keys: readonly TestKey[], signer: TestKey): Promise<[number, string]> {
  const server = await newServer();
  const registered = await server.send("/oauth/register", {
    headers: { "content-type": "application/json" },
    form: JSON.stringify({
      redirect_uris: [REDIRECT],
      token_endpoint_auth_method: "private_key_jwt",
      token_endpoint_auth_signing_alg: alg,
      jwks: { keys: keys.map(({ jwk }) => jwk) },
    }),
  });
  const client = await registered.json();
  assert.equal([registered.status, client.token_endpoint_auth_signing_alg], [201, alg]);
  return await push(server, await createAssertion(signer, client.client_id, ISSUER));
}

async function push(server: TestServer, client_assertion: string): Promise<[number, string]> {
  const form = {
    client_assertion,
    client_assertion_type: TYPE,
    response_type: "code",
    redirect_uri: REDIRECT,
    scope: "read",
  };
  const response = await server.send("/oauth/par", { form });
  return [response.status, (await response.json()).error];
}

test("attack: an assertion with another algorithm than token_endpoint_auth_signing_alg is refused", async () => {
  const [rsa, pss, ec] = [await newKey("RS256"), await newKey("PS256"), await newKey("ES256")];
  assert.equal(await pushAs("PS256", [rsa], rsa), [401, "invalid_client"]);
  assert.equal(await pushAs("PS256", [pss, ec], ec), [401, "invalid_client"]);
  assert.equal(await pushAs("PS256", [pss, ec], pss), [201, undefined]);
  assert.equal(await pushAs("ES256", [pss, ec], ec), [201, undefined]);
});

test("the algorithm counts for a client of the operator, of a document, and of an earlier version too", async () => {
  const [rsa, ec] = [await newKey("RS256", "r"), await newKey("ES256", "e")];
  const jwks = { keys: [rsa.jwk, ec.jwk] };
  const usual = { jwks, redirect_uris: [REDIRECT], token_endpoint_auth_method: "private_key_jwt" } as const;
  const id = "https://client.example/client.json";
  const document = { ...usual, client_id: id, token_endpoint_auth_signing_alg: "ES256" };
  const server = await newServer({
    clients: [toClient({ ...usual, id: "own", token_endpoint_auth_signing_alg: "ES256" }, 0)],
    connect: () => Promise.resolve(new Response(JSON.stringify(document))),
  });
  const { source: _, ...old } = toClient({ ...usual, id: "old" }, 0);
  const value = { ...old, source: "registration", metadata: { token_endpoint_auth_signing_alg: "ES256" } };
  await server.store.commit({ set: [{ key: clientKey("old"), value }] });
  for (const client of ["own", id, "old"]) {
    assert.equal(await push(server, await createAssertion(rsa, client, ISSUER)), [401, "invalid_client"]);
    assert.equal(await push(server, await createAssertion(ec, client, ISSUER)), [201, undefined], client);
  }
});

test("exactly one of many concurrent requests with one assertion succeeds, and no later one", async () => {
  const { key, server } = await newSigner();
  const assertion = await createAssertion(key, "signer", ISSUER);
  const answers = await Promise.all(Array.from({ length: 8 }, () => authenticate(server, assertion)));
  assert.is(answers.filter(([status]) => status === 200).length, 1);
  assert.equal(await authenticate(server, assertion), [401, "invalid_client"]);
});

test("a client registered for private_key_jwt cannot authenticate with its secret", async () => {
  const { jwk } = await newKey("ES256", "k1");
  const both = {
    id: "both",
    secret: "s",
    jwks: { keys: [jwk] },
    token_endpoint_auth_method: "private_key_jwt",
  } as const;
  const server = await newServer({ clients: [toClient(both, 0)] });
  const form = { grant_type: "client_credentials", client_id: "both", client_secret: "s" };
  const response = await server.send("/oauth/token", { form });
  assert.equal([response.status, (await response.json()).error], [401, "invalid_client"]);
});

test("an assertion with another authentication method, another client_id or another type is refused", async () => {
  const { key, server } = await newSigner();
  const assertion = await createAssertion(key, "signer", ISSUER);
  assert.equal(await authenticate(server, assertion, { client_secret: "x" }), [400, "invalid_request"]);
  assert.equal(await authenticate(server, assertion, { client_id: "other" }), [401, "invalid_client"]);
  assert.equal(await authenticate(server, assertion, { client_assertion_type: "x" }), [
    401,
    "invalid_client",
  ]);
  const bare = await server.send("/oauth/token", {
    form: { grant_type: "client_credentials", client_id: "signer" },
  });
  assert.is(bare.status, 401, "client_id alone does not authenticate");
});

test("keys at jwks_uri are fetched once, and again for an unknown kid, at most once a minute", async () => {
  const first = await newKey("ES256", "a");
  const second = await newKey("ES256", "b");
  let keys = [first.jwk];
  let fetched = 0;
  const clients = [
    toClient(
      { id: "signer", jwks_uri: "https://client.example/keys", grant_types: ["client_credentials"] },
      0,
    ),
  ];
  const server = await newServer({
    clients,
    connect: () => (fetched++, Promise.resolve(Response.json({ keys }))),
  });
  for (let i = 0; i < 3; i++) {
    assert.equal(await authenticate(server, await createAssertion(first, "signer", ISSUER)), [200, "Bearer"]);
  }
  assert.is(fetched, 1);
  keys = [second.jwk];
  assert.equal(await authenticate(server, await createAssertion(second, "signer", ISSUER)), [
    401,
    "invalid_client",
  ]);
  assert.is(fetched, 1, "within a minute");
  server.advance(61);
  const atServerTime = (claims = {}) =>
    createAssertion(second, "signer", ISSUER, { iat: now() + 61, exp: now() + 120, ...claims });
  assert.equal(await authenticate(server, await atServerTime()), [200, "Bearer"]);
  assert.is(fetched, 2);
});

const REMOTE = toClient(
  { id: "signer", jwks_uri: "https://client.example/keys", grant_types: ["client_credentials"] },
  0,
);
const b64 = (value: unknown) => btoa(JSON.stringify(value)).replaceAll("=", "");

test("an assertion that cannot be valid does not cause a fetch of jwks_uri", async () => {
  let fetched = 0;
  const server = await newServer({
    clients: [REMOTE],
    connect: () => (fetched++, Promise.resolve(new Response("", { status: 404 }))),
  });
  const key = await newKey("ES256", "k1");
  const claims = { iss: "signer", sub: "signer", aud: ISSUER, exp: now() + 60, jti: "j" };
  const made = [
    `${b64({ alg: "ES256" })}.${b64(claims)}.AAAA`,
    `${b64({ alg: "ES256" })}.${b64(claims)}.`,
    `${b64({ alg: "HS256" })}.${b64(claims)}.${"A".repeat(86)}`,
    `${b64({ alg: "RS256" })}.${b64(claims)}.${"A".repeat(86)}`,
    await createAssertion(key, "signer", "https://other.example"),
    await createAssertion(key, "signer", ISSUER, { exp: now() - 61 }),
    await createAssertion(key, "signer", ISSUER, { jti: undefined }),
  ];
  for (const assertion of made) assert.equal(await authenticate(server, assertion), [401, "invalid_client"]);
  assert.is(fetched, 0);
});

test("failing fetches of jwks_uri are limited", async () => {
  let fetched = 0;
  const server = await newServer({
    clients: [REMOTE],
    connect: () => (fetched++, Promise.resolve(new Response("", { status: 404 }))),
  });
  const key = await newKey("ES256", "k1");
  const statuses = new Set<number>();
  for (let i = 0; i < 50; i++) {
    statuses.add((await authenticate(server, await createAssertion(key, "signer", ISSUER)))[0]);
  }
  assert.equal([fetched, statuses], [3, new Set([401, 429])]);
});

test("a failing fetch of jwks_uri gives invalid_client and is not cached", async () => {
  const key = await newKey("ES256", "a");
  let up = false;
  const clients = [
    toClient(
      { id: "signer", jwks_uri: "https://client.example/keys", grant_types: ["client_credentials"] },
      0,
    ),
  ];
  const server = await newServer({
    clients,
    connect: () =>
      up ? Promise.resolve(Response.json({ keys: [key.jwk] })) : Promise.reject(new Error("down")),
  });
  assert.equal(await authenticate(server, await createAssertion(key, "signer", ISSUER)), [
    401,
    "invalid_client",
  ]);
  up = true;
  assert.equal(await authenticate(server, await createAssertion(key, "signer", ISSUER)), [200, "Bearer"]);
});

test.run();
