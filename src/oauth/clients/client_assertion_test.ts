import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomId } from "../../crypto/secret.ts";
import { toClient } from "./client.ts";
import { assertClient, newKey, sign, type TestKey } from "../test_keys.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";

const test = suite("oauth/client_assertion");
const TYPE = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";

async function newSigner(alg: "ES256" | "EdDSA" | "RS256" | "PS256" = "ES256") {
  const key = await newKey(alg, "k1");
  const clients = [
    toClient({ id: "signer", jwks: { keys: [key.jwk] }, grant_types: ["client_credentials"] }, 0),
  ];
  return { key, server: await newServer({ clients }) };
}

async function ask(
  server: TestServer,
  client_assertion: string,
  more: Record<string, string> = {},
): Promise<[number, string]> {
  const form = { grant_type: "client_credentials", client_assertion, client_assertion_type: TYPE, ...more };
  const response = await server.send("/oauth/token", { form });
  const body = await response.json();
  return [response.status, body.error ?? body.token_type];
}

for (const alg of ["ES256", "EdDSA", "RS256", "PS256"] as const) {
  test(`RFC 7523 section 2.2: a client proves itself with ${alg}, with or without client_id`, async () => {
    const { key, server } = await newSigner(alg);
    assert.equal(await ask(server, await assertClient(key, "signer", ISSUER)), [200, "Bearer"]);
    assert.equal(await ask(server, await assertClient(key, "signer", ISSUER), { client_id: "signer" }), [
      200,
      "Bearer",
    ]);
  });
}

const now = () => Math.floor(Date.now() / 1000);
const WRONG: Record<string, (key: TestKey) => Promise<string>> = {
  "aud is the token endpoint": (key) => assertClient(key, "signer", ISSUER + "/oauth/token"),
  "aud is another server": (key) => assertClient(key, "signer", "https://other.example"),
  "aud is an array": (key) => assertClient(key, "signer", ISSUER, { aud: [ISSUER] }),
  "aud is missing": (key) => assertClient(key, "signer", ISSUER, { aud: undefined }),
  "exp is over": (key) => assertClient(key, "signer", ISSUER, { exp: now() - 61 }),
  "exp is missing": (key) => assertClient(key, "signer", ISSUER, { exp: undefined }),
  "exp is far away": (key) => assertClient(key, "signer", ISSUER, { exp: now() + 3600 }),
  "exp is text": (key) => assertClient(key, "signer", ISSUER, { exp: String(now() + 60) }),
  "nbf is to come": (key) => assertClient(key, "signer", ISSUER, { nbf: now() + 120 }),
  "iat is to come": (key) => assertClient(key, "signer", ISSUER, { iat: now() + 120 }),
  "jti is missing": (key) => assertClient(key, "signer", ISSUER, { jti: undefined }),
  "jti is empty": (key) => assertClient(key, "signer", ISSUER, { jti: "" }),
  "jti is a number": (key) => assertClient(key, "signer", ISSUER, { jti: 1 }),
  "jti is endless": (key) => assertClient(key, "signer", ISSUER, { jti: "x".repeat(513) }),
  "iss differs from sub": (key) => assertClient(key, "signer", ISSUER, { iss: "other" }),
  "of a client that is not there": (key) => assertClient(key, "nobody", ISSUER),
  "signed by another key with the same kid": async () =>
    await assertClient(await newKey("ES256", "k1"), "signer", ISSUER),
  "with a kid that is not registered": (key) =>
    assertClient(key, "signer", ISSUER, { header: { kid: "k2" } }),
  "with a key of its own in the header": async () => {
    const own = await newKey("ES256", "k1");
    return await assertClient(own, "signer", ISSUER, {
      header: { jwk: own.jwk, jku: "https://evil.example/keys" },
    });
  },
  "alg none": async (key) =>
    (await sign(key, { alg: "none", kid: "k1" }, {
      iss: "signer",
      sub: "signer",
      aud: ISSUER,
      exp: now() + 60,
      jti: randomId(""),
    })).replace(/[^.]*$/, ""),
  "HS256 under the public key": (key) => assertClient(key, "signer", ISSUER, { header: { alg: "HS256" } }),
  "with an extension that must be understood": (key) =>
    assertClient(key, "signer", ISSUER, { header: { crit: ["exp"] } }),
  "no JWT": () => Promise.resolve("signer"),
};
for (const [name, make] of Object.entries(WRONG)) {
  test(`invalid_client: ${name}`, async () => {
    const { key, server } = await newSigner();
    assert.equal(await ask(server, await make(key)), [401, "invalid_client"]);
  });
}

test("an assertion is good once, also for many requests at the same moment", async () => {
  const { key, server } = await newSigner();
  const assertion = await assertClient(key, "signer", ISSUER);
  const answers = await Promise.all(Array.from({ length: 8 }, () => ask(server, assertion)));
  assert.is(answers.filter(([status]) => status === 200).length, 1);
  assert.equal(await ask(server, assertion), [401, "invalid_client"]);
});

test("a client that is to prove itself with a key cannot with a secret that it has as well", async () => {
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

test("one way of proving the client, and the right type", async () => {
  const { key, server } = await newSigner();
  const assertion = await assertClient(key, "signer", ISSUER);
  assert.equal(await ask(server, assertion, { client_secret: "x" }), [400, "invalid_request"]);
  assert.equal(await ask(server, assertion, { client_id: "other" }), [401, "invalid_client"]);
  assert.equal(await ask(server, assertion, { client_assertion_type: "x" }), [401, "invalid_client"]);
  const bare = await server.send("/oauth/token", {
    form: { grant_type: "client_credentials", client_id: "signer" },
  });
  assert.is(bare.status, 401, "its name alone proves nothing");
});

test("keys at jwks_uri are fetched once, and again when a new kid appears", async () => {
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
    assert.equal(await ask(server, await assertClient(first, "signer", ISSUER)), [200, "Bearer"]);
  }
  assert.is(fetched, 1);
  keys = [second.jwk];
  assert.equal(await ask(server, await assertClient(second, "signer", ISSUER)), [401, "invalid_client"]);
  assert.is(fetched, 1, "a new kid may make us ask once a minute");
  server.advance(61);
  const inNewTime = (claims = {}) =>
    assertClient(second, "signer", ISSUER, { iat: now() + 61, exp: now() + 120, ...claims });
  assert.equal(await ask(server, await inNewTime()), [200, "Bearer"]);
  assert.is(fetched, 2);
});

const REMOTE = toClient(
  { id: "signer", jwks_uri: "https://client.example/keys", grant_types: ["client_credentials"] },
  0,
);
const b64 = (value: unknown) => btoa(JSON.stringify(value)).replaceAll("=", "");

test("what cannot be a good assertion makes us fetch nothing", async () => {
  let asked = 0;
  const server = await newServer({
    clients: [REMOTE],
    connect: () => (asked++, Promise.resolve(new Response("", { status: 404 }))),
  });
  const key = await newKey("ES256", "k1");
  const claims = { iss: "signer", sub: "signer", aud: ISSUER, exp: now() + 60, jti: "j" };
  const made = [
    `${b64({ alg: "ES256" })}.${b64(claims)}.AAAA`,
    `${b64({ alg: "ES256" })}.${b64(claims)}.`,
    `${b64({ alg: "HS256" })}.${b64(claims)}.${"A".repeat(86)}`,
    `${b64({ alg: "RS256" })}.${b64(claims)}.${"A".repeat(86)}`,
    await assertClient(key, "signer", "https://other.example"),
    await assertClient(key, "signer", ISSUER, { exp: now() - 61 }),
    await assertClient(key, "signer", ISSUER, { jti: undefined }),
  ];
  for (const assertion of made) assert.equal(await ask(server, assertion), [401, "invalid_client"]);
  assert.is(asked, 0);
});

test("keys that cannot be fetched are not asked for again and again", async () => {
  let asked = 0;
  const server = await newServer({
    clients: [REMOTE],
    connect: () => (asked++, Promise.resolve(new Response("", { status: 404 }))),
  });
  const key = await newKey("ES256", "k1");
  const statuses = new Set<number>();
  for (let i = 0; i < 50; i++) {
    statuses.add((await ask(server, await assertClient(key, "signer", ISSUER)))[0]);
  }
  assert.equal([asked, statuses], [3, new Set([401, 429])]);
});

test("keys that cannot be had are invalid_client, and nothing of them is kept", async () => {
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
  assert.equal(await ask(server, await assertClient(key, "signer", ISSUER)), [401, "invalid_client"]);
  up = true;
  assert.equal(await ask(server, await assertClient(key, "signer", ISSUER)), [200, "Bearer"]);
});

test.run();
