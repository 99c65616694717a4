import { suite } from "uvu";
import * as assert from "uvu/assert";
import { APP_URI, ISSUER, newServer } from "../test_server.ts";
import { listAll } from "../../store/store.ts";
import type { AuthenticatedUser } from "../authorization_server.ts";
import type { User } from "../records/user_record.ts";
import { createProof, newKey } from "../test_keys.ts";
import { newProvider, type TestProvider } from "./test_provider.ts";

const test = suite("oauth/openid/user_info");
const PATH = "/oauth/userinfo";
const PROFILE = { name: "Alice Liddell", preferred_username: "alice" };
const EMAIL = { email: "alice@example.com", email_verified: false };

const ask = (server: TestProvider, token: string, method = "GET") =>
  server.send(PATH, { method, headers: { authorization: `Bearer ${token}` } });

test("Core section 5.3: sub equals that of the ID token, and scopes add their claims", async () => {
  for (
    const [scope, expected] of [
      ["openid", {}],
      ["openid profile", PROFILE],
      ["openid email", EMAIL],
      ["openid profile email", { ...PROFILE, ...EMAIL }],
    ] as const
  ) {
    const server = await newProvider();
    const { tokens, claims } = await server.signInWith({ scope });
    for (const method of ["GET", "POST"]) {
      const response = await ask(server, tokens.access_token!, method);
      assert.equal([response.status, response.headers.get("content-type")], [200, "application/json"]);
      assert.match(response.headers.get("cache-control")!, /no-store/);
      const { updated_at, ...others } = await response.json();
      assert.equal(others, { sub: claims.sub, ...expected }, `${method} ${scope}`);
      assert.is(Number.isSafeInteger(updated_at), scope.includes("profile"));
    }
  }
});

test("Core section 5.1: email_verified is what the user's record says", async () => {
  const scope = "openid email";
  const server = await newProvider();
  for await (const { key, value } of listAll<User>(server.store, ["user"])) {
    await server.store.commit({ set: [{ key, value: { ...value, email_verified: Date.now() } }] });
  }
  const { tokens } = await server.signInWith({ scope });
  assert.is((await (await ask(server, tokens.access_token!)).json()).email_verified, true);
});

test("Core section 5.1: claims of a user of authenticateUser, and when they changed", async () => {
  const user = { id: "7", name: "Carol", email: "carol@example.com" };
  let more: Partial<AuthenticatedUser> = {};
  const server = await newProvider({}, { authenticateUser: () => Promise.resolve({ ...user, ...more }) });
  const read = async () => {
    const { tokens } = await server.signInWith({ scope: "openid profile email" });
    return await (await ask(server, tokens.access_token!)).json();
  };
  const first = await read();
  assert.equal([first.email_verified, first.preferred_username], [false, undefined]);
  assert.ok(Math.abs(first.updated_at - Date.now() / 1000) < 60);
  server.advance(1000);
  assert.is((await read()).updated_at, first.updated_at);
  more = { email_verified: true, username: "carol" };
  const later = await read();
  assert.equal([later.email_verified, later.preferred_username], [true, "carol"]);
  assert.ok(later.updated_at >= first.updated_at + 1000);
});

test("Core section 5.5: the claims parameter adds claims to UserInfo and to the ID token", async () => {
  const server = await newProvider();
  const claims = JSON.stringify({
    userinfo: {
      email: { essential: true },
      email_verified: null,
      name: null,
      "https://claims.example/unknown": null,
    },
    id_token: { preferred_username: null, auth_time: { essential: true } },
  });
  const signedIn = await server.signInWith({ claims });
  assert.is(signedIn.claims.preferred_username, "alice");
  assert.not.ok("email" in signedIn.claims);
  const sub = signedIn.claims.sub;
  const read = async (token: string) => await (await ask(server, token)).json();
  assert.equal(await read(signedIn.tokens.access_token!), {
    sub,
    name: "Alice Liddell",
    ...EMAIL,
  });
  const form = { grant_type: "refresh_token", refresh_token: signedIn.tokens.refresh_token };
  const refreshed = await (await server.token(form)).json();
  assert.is((await read(refreshed.access_token)).email, "alice@example.com");
  assert.is((await server.verify(refreshed.id_token)).claims.preferred_username, "alice");
});

test("Core section 5.5: a malformed claims parameter is refused", async () => {
  const server = await newProvider();
  for (
    const claims of [
      "{",
      "[]",
      '"x"',
      '{"userinfo":1}',
      '{"id_token":{"name":1}}',
      '{"id_token":{"name":{"essential":1}}}',
    ]
  ) {
    assert.is((await server.authorize({ scope: "openid", claims })).get("error"), "invalid_request", claims);
  }
});

test("Core section 5.3.2: a client that registered an algorithm gets a JWT with iss and aud", async () => {
  const server = await newProvider({}, {}, [{
    id: "signed",
    secret: "secret of signed",
    redirect_uris: [APP_URI],
    userinfo_signed_response_alg: "ES256",
  }]);
  const { tokens, claims } = await server.signInWith({ client_id: "signed", scope: "openid profile" });
  const response = await ask(server, tokens.access_token!);
  assert.is(response.headers.get("content-type"), "application/jwt");
  const jwt = await server.verify(await response.text());
  assert.is(jwt.header.alg, "ES256");
  const { updated_at: _, ...named } = jwt.claims;
  assert.equal(named, { iss: ISSUER, aud: "signed", sub: claims.sub, ...PROFILE });
});

test("Core section 5.3.3 and RFC 6750: no token, a wrong one, one without openid, one of a client", async () => {
  const server = await newProvider();
  const none = await server.send(PATH);
  assert.is(none.status, 401);
  assert.match(none.headers.get("www-authenticate")!, /^Bearer (?!.*error)/);
  const wrong = await ask(server, "trivet_at_wrong");
  assert.is(wrong.status, 401);
  assert.match(wrong.headers.get("www-authenticate")!, /error="invalid_token"/);
  const plain = await ask(server, (await server.tokens({ scope: "read" })).access_token!);
  assert.is(plain.status, 403);
  assert.match(plain.headers.get("www-authenticate")!, /error="insufficient_scope"/);
  const own = await (await server.token({ grant_type: "client_credentials", scope: "read" })).json();
  assert.is((await ask(server, own.access_token)).status, 403);
});

test("a token for another resource is refused", async () => {
  const server = await newProvider();
  const { tokens } = await server.signInWith({ resource: `${ISSUER}/mcp` });
  assert.is((await ask(server, tokens.access_token!)).status, 401);
});

test("a DPoP-bound token needs its proof (RFC 9449 section 7)", async () => {
  const server = await newProvider();
  const code = (await server.authorize({ scope: "openid" })).get("code")!;
  const key = await newKey();
  const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
  const dpop = await createProof(key, `${ISSUER}/oauth/token`);
  const { access_token, token_type } = await (await server.token(form, { dpop })).json();
  assert.is(token_type, "DPoP");
  assert.is((await ask(server, access_token)).status, 401);
  const proof = await createProof(key, ISSUER + PATH, { htm: "GET", token: access_token });
  const response = await server.send(PATH, {
    headers: { authorization: `DPoP ${access_token}`, dpop: proof },
  });
  assert.is(response.status, 200);
});

test("scripts of other origins may call it (CORS)", async () => {
  const server = await newProvider();
  const { tokens } = await server.signInWith();
  const origin = "https://spa.example";
  const response = await server.send(PATH, {
    headers: { authorization: `Bearer ${tokens.access_token}`, origin },
  });
  assert.is(response.headers.get("access-control-allow-origin"), "*");
  const preflight = await server.send(PATH, {
    method: "OPTIONS",
    headers: {
      origin,
      "access-control-request-method": "GET",
      "access-control-request-headers": "authorization",
    },
  });
  assert.match(preflight.headers.get("access-control-allow-headers")!, /authorization/i);
});

test("with OpenID Connect off the endpoint does not exist", async () => {
  assert.is((await (await newServer()).send(PATH)).status, 404);
});

test.run();
