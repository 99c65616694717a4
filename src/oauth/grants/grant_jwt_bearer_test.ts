import { suite } from "uvu";
import * as assert from "uvu/assert";
import { thumbprint } from "../../crypto/jwk.ts";
import { readJws } from "../../crypto/jws.ts";
import { randomId } from "../../crypto/secret.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { toClient } from "../clients/client.ts";
import { createProof, newKey, sign, type TestKey } from "../test_keys.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";
import { updateUser } from "../users/user_changes.ts";

const test = suite("oauth/grant_jwt_bearer");
const GRANT = "urn:ietf:params:oauth:grant-type:jwt-bearer";
const IDP = "https://idp.example";
const MCP = `${ISSUER}/mcp`;
const clients = [
  toClient({ id: "agent", secret: "s", grant_types: [GRANT] }, 0),
  toClient({ id: "other", secret: "s", grant_types: [GRANT] }, 0),
];
const now = () => Math.floor(Date.now() / 1000);

async function newIdp(options: Partial<AuthorizationServerOptions> = {}) {
  const key = await newKey("ES256", "idp-1");
  const trustedIssuers = [{
    issuer: IDP,
    jwks: { keys: [key.jwk] },
    user: (claims: Readonly<Record<string, unknown>>) =>
      Promise.resolve(
        claims.sub === "u-1" ? { id: "idp|u-1", name: "Bob", email: "bob@corp.example" } : undefined,
      ),
  }];
  return { key, server: await newServer({ clients, trustedIssuers, accessTokenFormat: "jwt", ...options }) };
}

function idJag(
  key: TestKey,
  { header = {}, ...claims }: { header?: Record<string, unknown>; [name: string]: unknown } = {},
): Promise<string> {
  return sign(key, { typ: "oauth-id-jag+jwt", kid: "idp-1", ...header }, {
    iss: IDP,
    sub: "u-1",
    aud: ISSUER,
    client_id: "agent",
    resource: MCP,
    scope: "read write",
    iat: now(),
    exp: now() + 300,
    jti: randomId(""),
    ...claims,
  });
}

async function redeem(
  server: TestServer,
  assertion: string,
  form: Record<string, string> = {},
  headers: Record<string, string> = {},
) {
  const response = await server.send("/oauth/token", {
    headers,
    form: { grant_type: GRANT, assertion, client_id: "agent", client_secret: "s", ...form },
  });
  return { status: response.status, body: await response.json() };
}

test("an ID-JAG of a trusted issuer gets an access token for its user, without a refresh token", async () => {
  const { key, server } = await newIdp();
  const { status, body } = await redeem(server, await idJag(key));
  assert.equal([status, body.token_type, body.scope, "refresh_token" in body], [
    200,
    "Bearer",
    "read write",
    false,
  ]);
  const { sub, aud, client_id } = readJws(body.access_token)!.claims;
  assert.equal([sub, aud, client_id], ["idp|u-1", MCP, "agent"]);
});

test("RFC 9068 section 5: no user has a token of a client with the same id", async () => {
  const key = await newKey("ES256", "idp-1");
  const user = () => Promise.resolve({ id: "agent", name: "Mallory", email: "" });
  const trustedIssuers = [{ issuer: IDP, jwks: { keys: [key.jwk] }, user }];
  const { server } = await newIdp({ trustedIssuers });
  const { status, body } = await redeem(server, await idJag(key));
  assert.equal([status, body.error], [400, "invalid_grant"]);
  const other = { client_id: "other" };
  assert.is((await redeem(server, await idJag(key, other), other)).status, 200);
});

test("the role that the operator gave the user counts, which the issuer does not know", async () => {
  const scopes = { read: "Read", write: { description: "Write", role: "author" } } as const;
  const { key, server } = await newIdp({ scopes, defaultRole: "author" });
  const scopeOf = async () => {
    const { body } = await redeem(server, await idJag(key));
    return [body.scope, readJws(body.access_token)?.claims.scope];
  };
  assert.equal(await scopeOf(), ["read write", "read write"]);
  await updateUser(server.store, "idp|u-1", { role: "reader" });
  assert.equal(await scopeOf(), ["read", "read"]);
});

test("user info returns the user of the trusted issuer", async () => {
  const { key, server } = await newIdp();
  const { body } = await redeem(server, await idJag(key, { resource: undefined, scope: "profile" }));
  const user = await server.send("/api/user", { headers: { authorization: `Bearer ${body.access_token}` } });
  assert.equal(await user.json(), { id: "idp|u-1", name: "Bob", email: "bob@corp.example" });
});

test("an opaque token is accepted too, and token_issued is reported", async () => {
  const { key, server } = await newIdp({ accessTokenFormat: "opaque" });
  const { body } = await redeem(server, await idJag(key, { resource: undefined, scope: "profile" }));
  const user = await server.send("/api/user", { headers: { authorization: `Bearer ${body.access_token}` } });
  assert.is((await user.json()).id, "idp|u-1");
  assert.equal(server.events.slice(-1), [
    { type: "token_issued", grant_type: GRANT, client: "agent", user: "idp|u-1" },
  ]);
});

test("an ID-JAG whose scope or resource is malformed is refused", async () => {
  const { key, server } = await newIdp();
  for (
    const claims of [{ scope: ["read"] }, { scope: null }, { resource: [] }, { resource: [5] }, {
      resource: {},
    }]
  ) {
    const { status, body } = await redeem(server, await idJag(key, claims));
    assert.equal([status, body.error], [400, "invalid_grant"], JSON.stringify(claims));
  }
  assert.is((await redeem(server, await idJag(key, { resource: [MCP] }))).status, 200);
});

test("an assertion that is not an ID-JAG limits neither scope nor resource: RFC 7523 has no such claims", async () => {
  const { key, server } = await newIdp();
  const plain = { header: { typ: "JWT" }, client_id: undefined, scope: "read", resource: ISSUER };
  const { body } = await redeem(server, await idJag(key, plain), { scope: "write", resource: MCP });
  assert.equal([body.scope, readJws(body.access_token)!.claims.aud], ["write", MCP]);
});

test("a request without an assertion gets invalid_request", async () => {
  const { server } = await newIdp();
  const form = { grant_type: GRANT, client_id: "agent", client_secret: "s" };
  const response = await server.send("/oauth/token", { form });
  const { error, error_description } = await response.json();
  assert.equal([response.status, error], [400, "invalid_request"]);
  assert.match(error_description, /\bassertion\b/);
});

test("a request for more scope or another resource than the ID-JAG allows is refused", async () => {
  const { key, server } = await newIdp();
  assert.is((await redeem(server, await idJag(key), { scope: "read" })).body.scope, "read");
  assert.is((await redeem(server, await idJag(key), { scope: "profile" })).body.error, "invalid_scope");
  assert.is((await redeem(server, await idJag(key), { resource: ISSUER })).body.error, "invalid_target");
  assert.is(
    (await redeem(server, await idJag(key, { scope: "admin" }))).body.error,
    "invalid_scope",
    "not allowed for the client",
  );
});

const INVALID: Record<string, (key: TestKey) => Promise<string>> = {
  "an issuer that is not trusted": (key) => idJag(key, { iss: "https://other.example" }),
  "another audience": (key) => idJag(key, { aud: "https://other.example" }),
  "several audiences": (key) => idJag(key, { aud: [ISSUER, "https://other.example"] }),
  "another client": (key) => idJag(key, { client_id: "other" }),
  "no client": (key) => idJag(key, { client_id: undefined }),
  "an unknown subject": (key) => idJag(key, { sub: "u-2" }),
  "an expired assertion": (key) => idJag(key, { exp: now() - 61 }),
  "no exp": (key) => idJag(key, { exp: undefined }),
  "an exp too far in the future": (key) => idJag(key, { exp: now() + 7200 }),
  "no jti": (key) => idJag(key, { jti: undefined }),
  "another key": async () => await idJag(await newKey("ES256", "idp-1")),
  "the type of an ID token": (key) => idJag(key, { header: { typ: "id_token+jwt" } }),
  "the type of an access token": (key) => idJag(key, { header: { typ: "at+jwt" } }),
};
for (const [name, make] of Object.entries(INVALID)) {
  test(`an assertion is refused with invalid_grant: ${name}`, async () => {
    const { key, server } = await newIdp();
    const { status, body } = await redeem(server, await make(key));
    assert.equal([status, body.error], [400, "invalid_grant"]);
  });
}

test("an ID-JAG that is bound to a key is redeemed only with a DPoP proof of this key", async () => {
  const { key, server } = await newIdp();
  const [own, other] = [await newKey("ES256"), await newKey("ES256")];
  const assertion = await idJag(key, { cnf: { jkt: thumbprint(own.jwk) } });
  const prove = async (by: TestKey) => ({ dpop: await createProof(by, `${ISSUER}/oauth/token`) });
  for (const headers of [{}, await prove(other)]) {
    const { status, body } = await redeem(server, assertion, {}, headers);
    assert.equal([status, body.error, "access_token" in body], [400, "invalid_grant", false]);
  }
  const { status, body } = await redeem(server, assertion, {}, await prove(own));
  assert.equal([status, body.token_type], [200, "DPoP"]);
  const { cnf } = readJws(body.access_token)!.claims;
  assert.equal(cnf, { jkt: thumbprint(own.jwk) });
});

test("RFC 7800 section 3.1: an assertion whose cnf cannot be checked is refused", async () => {
  const { key, server } = await newIdp();
  for (const cnf of [{}, "key", null, { jkt: 1 }, { kid: "key" }, { jkt: "a", jwk: {} }]) {
    const { status, body } = await redeem(server, await idJag(key, { cnf }));
    assert.equal([status, body.error], [400, "invalid_grant"], JSON.stringify(cnf));
  }
});

test("authorization_details of an ID-JAG are granted, and limit those of the request", async () => {
  const payment = { check: () => undefined, describe: () => "Pay" };
  const { key, server } = await newIdp({ authorizationDetailTypes: { payment } });
  const [five, seven] = [{ type: "payment", amount: 5 }, { type: "payment", amount: 7 }];
  const bound = { authorization_details: [five] };
  const granted = await redeem(server, await idJag(key, bound));
  assert.equal([granted.status, granted.body.authorization_details], [200, [five]]);
  const asked = { authorization_details: JSON.stringify([seven]) };
  const refused = await redeem(server, await idJag(key, bound), asked);
  assert.equal([refused.status, refused.body.error], [400, "invalid_authorization_details"]);
  const unknown = await redeem(server, await idJag(key, { authorization_details: [{ type: "unknown" }] }));
  assert.equal([unknown.status, unknown.body.error], [400, "invalid_authorization_details"]);
});

test("an issuer of identity assertions only has its other assertions refused", async () => {
  const key = await newKey("ES256", "idp-1");
  const user = () => Promise.resolve({ id: "idp|u-1", name: "Bob", email: "" });
  const server = await newServer({
    clients,
    trustedIssuers: [{ issuer: IDP, jwks: { keys: [key.jwk] }, user, requireIdJag: true }],
  });
  for (const typ of ["JWT", undefined]) {
    const { status, body } = await redeem(server, await idJag(key, { header: { typ } }));
    assert.equal([status, body.error], [400, "invalid_grant"]);
  }
  assert.is((await redeem(server, await idJag(key))).status, 200);
});

test("exactly one of many concurrent requests with one assertion succeeds", async () => {
  const { key, server } = await newIdp();
  const assertion = await idJag(key);
  const answers = await Promise.all(Array.from({ length: 8 }, () => redeem(server, assertion)));
  assert.is(answers.filter(({ status }) => status === 200).length, 1);
});

test("RFC 7523 section 2.1: an assertion for a user of this server is verified with fetched keys", async () => {
  const key = await newKey("ES256", "idp-1");
  const server = await newServer({
    clients,
    trustedIssuers: [{ issuer: IDP, jwks_uri: "https://idp.example/keys" }],
    connect: () => Promise.resolve(Response.json({ keys: [key.jwk] })),
  });
  const [alice] = await server.store.list<{ id: string }>(["user"]);
  const assertion = await sign(key, { kid: "idp-1" }, {
    iss: IDP,
    sub: alice!.value.id,
    aud: ISSUER,
    exp: now() + 60,
    jti: "1",
  });
  const { status, body } = await redeem(server, assertion, { scope: "profile" });
  assert.equal([status, body.scope], [200, "profile"]);
});

test("section 4.4.1 of the draft: the response names the granted resource", async () => {
  const { key, server } = await newIdp();
  assert.is((await redeem(server, await idJag(key))).body.resource, MCP);
  const { body } = await redeem(server, await idJag(key, { resource: undefined }));
  assert.not.ok("resource" in body);
});

test("without a trusted issuer the grant is refused and not advertised", async () => {
  const server = await newServer({ clients });
  const key = await newKey("ES256", "idp-1");
  assert.is((await redeem(server, await idJag(key))).body.error, "invalid_grant");
  const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
  assert.not.ok(metadata.grant_types_supported.includes(GRANT));
});

test.run();
