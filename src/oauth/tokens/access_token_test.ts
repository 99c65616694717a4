import { suite } from "uvu";
import * as assert from "uvu/assert";
import { decodeBase64url, encodeBase64url } from "../../crypto/base64url.ts";
import { readJws } from "../../crypto/jws.ts";
import { ISSUER, newServer, type TestServer } from "../test_server.ts";
import { lockUser } from "../users/user_changes.ts";

const test = suite("oauth/access_token");
const encode = (value: unknown) => encodeBase64url(new TextEncoder().encode(JSON.stringify(value)));

const KEYS = {
  now: Date.now,
  signingAlgorithms: ["ES256"],
  signingKeyLifetime: 90 * 86_400,
  signingKeyNotice: 86_400,
  maxTokenLifetime: 7200,
} as const;

async function clientToken(server: TestServer): Promise<string> {
  return (await (await server.token({ grant_type: "client_credentials", scope: "read" })).json())
    .access_token;
}

test("RFC 9068 section 2: a JWT access token has typ at+jwt and every required claim", async () => {
  const server = await newServer({ accessTokenFormat: "jwt" });
  const { header, claims } = readJws((await server.tokens()).access_token!)!;
  assert.is(header.alg, "ES256");
  assert.is(header.typ, "at+jwt");
  assert.type(header.kid, "string");
  const { sub, exp, iat, auth_time, jti, grant, ...rest } = claims as Record<string, string> & {
    auth_time: number;
    exp: number;
    iat: number;
  };
  assert.equal(rest, { iss: ISSUER, aud: ISSUER, client_id: "app", scope: "read", acr: "password" });
  assert.match(sub!, /^user_/);
  assert.is(exp - iat, 7200);
  assert.ok(iat - auth_time <= 1);
  assert.ok(jti!.length >= 22 && grant!.length >= 22);
});

test("RFC 9068 section 2.2: without a user, the client is the subject", async () => {
  const server = await newServer({ accessTokenFormat: "jwt" });
  assert.is(readJws(await clientToken(server))!.claims.sub, "app");
});

test("attack: a user whose id is that of the client is the user of the token, also when locked", async () => {
  const authenticateUser = () => Promise.resolve({ id: "app", name: "Mallory", email: "" });
  const server = await newServer({ accessTokenFormat: "jwt", authenticateUser });
  const { access_token } = await server.tokens({ scope: "profile" });
  const headers = { authorization: `Bearer ${access_token}` };
  const status = async () => (await server.send("/api/user", { headers })).status;
  assert.is(await status(), 200);
  await lockUser(server.store, "app");
  assert.is(await status(), 401);
});

test("/.well-known/jwks.json has the public key that verifies a token, and no private member", async () => {
  const server = await newServer({ accessTokenFormat: "jwt" });
  const token = await clientToken(server);
  const response = await server.send("/.well-known/jwks.json");
  assert.is(response.headers.get("content-type"), "application/json");
  const { keys } = await response.json();
  assert.is(keys.length, 1);
  assert.equal(Object.keys(keys[0]).sort(), ["alg", "crv", "kid", "kty", "use", "x", "y"]);
  assert.is(keys[0].kid, readJws(token)!.header.kid);
  const algorithm = { name: "ECDSA", namedCurve: "P-256" };
  const key = await crypto.subtle.importKey("jwk", keys[0], algorithm, false, ["verify"]);
  const end = token.lastIndexOf(".");
  const signature = decodeBase64url(token.slice(end + 1))!;
  const signed = new TextEncoder().encode(token.slice(0, end));
  assert.ok(await crypto.subtle.verify({ name: "ECDSA", hash: "SHA-256" }, key, signature, signed));
});

test("the key is published before the first token and is the same on other instances", async () => {
  const first = await newServer({ accessTokenFormat: "jwt" });
  const { keys: [key] } = await (await first.send("/.well-known/jwks.json")).json();
  const token = await clientToken(first);
  assert.is(readJws(token)!.header.kid, key.kid);
  const { createSigningKeys } = await import("./signing_keys.ts");
  const others = await Promise.all(
    Array.from(
      { length: 5 },
      async () => (await createSigningKeys({ ...KEYS, store: first.store }).current()).kid,
    ),
  );
  assert.equal(new Set(others), new Set([key.kid]));
});

test("instances that start together agree on one key", async () => {
  const { memoryStore } = await import("../../store/drivers/memory.ts");
  const { createSigningKeys } = await import("./signing_keys.ts");
  const store = memoryStore();
  const kids = await Promise.all(
    Array.from({ length: 10 }, async () => (await createSigningKeys({ ...KEYS, store }).current()).kid),
  );
  assert.is(new Set(kids).size, 1);
});

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`${accessTokenFormat}: verifyToken() returns client, subject, scopes and expiry`, async () => {
    const server = await newServer({ accessTokenFormat });
    const principal = await server.service.verifyToken((await server.tokens()).access_token!);
    assert.is(principal?.client, "app");
    assert.match(principal!.subject!, /^user_/);
    assert.equal([...principal!.scopes], ["read"]);
    assert.ok(Math.abs(principal!.expires! - Date.now() - 7_200_000) < 5000);
    const own = await server.service.verifyToken(await clientToken(server));
    assert.is(own?.subject, undefined);
    assert.is(own?.client, "app");
  });

  test(`${accessTokenFormat}: a token expires after its lifetime`, async () => {
    const server = await newServer({ accessTokenFormat });
    const token = await clientToken(server);
    server.advance(7198);
    assert.ok(await server.service.verifyToken(token));
    server.advance(3);
    assert.is(await server.service.verifyToken(token), undefined);
  });

  test(`${accessTokenFormat}: a token is invalid as soon as its grant is removed`, async () => {
    const server = await newServer({ accessTokenFormat });
    const { access_token } = await server.tokens();
    assert.ok(await server.service.verifyToken(access_token!));
    const [grant] = await server.store.list(["grant"]);
    await server.store.commit({ remove: [grant!.key] });
    assert.is(await server.service.verifyToken(access_token!), undefined);
  });
}

test("a JWT that this server did not issue is invalid", async () => {
  const server = await newServer({ accessTokenFormat: "jwt" });
  const good = await clientToken(server);
  const [header, claims, signature] = good.split(".") as [string, string, string];
  const read = readJws(good)!;
  const forged = {
    "changed claims": `${header}.${encode({ ...read.claims, scope: "admin" })}.${signature}`,
    "no signature": `${header}.${claims}.`,
    "alg none": `${encode({ ...read.header, alg: "none" })}.${claims}.`,
    "another type": `${encode({ ...read.header, typ: "JWT" })}.${claims}.${signature}`,
    "an unknown kid": `${encode({ ...read.header, kid: "../../key" })}.${claims}.${signature}`,
    "no kid": `${encode({ alg: "ES256", typ: "at+jwt" })}.${claims}.${signature}`,
    "a kid that is not a string": `${encode({ ...read.header, kid: { a: 1 } })}.${claims}.${signature}`,
    "the key of the store as kid": `${encode({ ...read.header, kid: "current" })}.${claims}.${signature}`,
    "garbage": "..",
  };
  for (const [what, token] of Object.entries(forged)) {
    assert.is(await server.service.verifyToken(token), undefined, what);
  }
  const stranger = await newServer({ accessTokenFormat: "jwt" });
  assert.is(await stranger.service.verifyToken(good), undefined, "signed by another server");
  const renamed = await newServer({ accessTokenFormat: "jwt", issuer: "https://other.example" });
  for (const { key, value } of await server.store.list(["signing_key"])) {
    await renamed.store.commit({ set: [{ key, value }] });
  }
  assert.is(await renamed.service.verifyToken(good), undefined, "from another issuer");
});

test.run();
