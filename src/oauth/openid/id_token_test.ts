import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../../crypto/base64url.ts";
import { readJws } from "../../crypto/jws.ts";
import { sha256 } from "../../crypto/sha256.ts";
import type { ClientRegistration } from "../clients/client_registration.ts";
import { APP_URI, ISSUER, newServer, transactionOf } from "../test_server.ts";
import { newProvider } from "./test_provider.ts";

const test = suite("oauth/openid/id_token");

function client(id: string, more: Partial<ClientRegistration> = {}): ClientRegistration {
  return { id, secret: `secret of ${id}`, redirect_uris: [APP_URI], ...more };
}

function leftHalf(text: string): string {
  return encodeBase64url(sha256(text).subarray(0, 16));
}

test("Core section 2: an ID token has the required claims and those of the request", async () => {
  const server = await newProvider();
  const before = Math.floor(server.now() / 1000);
  const { tokens, header, claims } = await server.signInWith({ nonce: "n-0S6_WzA2Mj" });
  assert.is(header.alg, "RS256");
  assert.equal(
    { ...claims, iat: undefined, exp: undefined, auth_time: undefined, sub: undefined, sid: undefined },
    {
      iss: ISSUER,
      sub: undefined,
      aud: "app",
      iat: undefined,
      exp: undefined,
      auth_time: undefined,
      acr: "password",
      amr: ["pwd"],
      nonce: "n-0S6_WzA2Mj",
      at_hash: leftHalf(tokens.access_token!),
      sid: undefined,
    },
  );
  const { iat, exp, auth_time, sub, sid } = claims as Record<string, number>;
  assert.ok(iat! >= before && iat! <= before + 5);
  assert.is(exp, iat! + 3600);
  assert.ok(auth_time! >= before && auth_time! <= iat!);
  assert.match(String(sub), /^user_/);
  assert.match(String(sid), /^[\w-]{43}$/);
});

test("Core section 3.1.2.1: without the scope openid, and with OpenID Connect off, there is no ID token", async () => {
  const server = await newProvider();
  const plain = await server.tokens({ scope: "read", nonce: "n" });
  assert.is(plain.id_token, undefined);
  const off = await newServer();
  const answer = await off.tokens({ scope: "openid read", nonce: "n" });
  assert.equal([answer.id_token, answer.scope], [undefined, "read"]);
});

test("Registration section 2: id_token_signed_response_alg decides, and the JWK set has the key", async () => {
  for (const alg of ["ES256", "Ed25519", "EdDSA", "RS256"] as const) {
    const server = await newProvider({}, {}, [client("signed", { id_token_signed_response_alg: alg })]);
    const { tokens, header, claims } = await server.signInWith({ client_id: "signed" });
    assert.is(header.alg, alg);
    if (alg.startsWith("Ed")) {
      const digest = await crypto.subtle.digest("SHA-512", new TextEncoder().encode(tokens.access_token));
      assert.is(claims.at_hash, encodeBase64url(new Uint8Array(digest).subarray(0, 32)));
    } else assert.is(claims.at_hash, leftHalf(tokens.access_token!));
  }
});

test("Core section 12.2: a refresh gives an ID token with the same sub, aud and auth_time, and no nonce", async () => {
  const server = await newProvider();
  const first = await server.signInWith({ nonce: "once" });
  server.advance(60);
  const form = { grant_type: "refresh_token", refresh_token: first.tokens.refresh_token };
  for (const attempt of ["refresh", "retry"]) {
    const tokens = await (await server.token(form)).json();
    const { claims } = await server.verify(tokens.id_token);
    for (const name of ["iss", "sub", "aud", "auth_time", "acr", "sid"]) {
      assert.equal(claims[name], first.claims[name], `${attempt}: ${name}`);
    }
    assert.not.ok("nonce" in claims);
    assert.is(claims.at_hash, leftHalf(tokens.access_token));
    assert.ok((claims.iat as number) >= (first.claims.iat as number) + 60);
  }
});

test("Core section 5.4: an ID token has the claims of its scopes, unless the operator turns that off", async () => {
  const scope = "openid profile email";
  for (const scopeClaimsInIdToken of [true, false]) {
    const server = await newProvider({ scopeClaimsInIdToken });
    const { tokens, claims } = await server.signInWith({ scope });
    const form = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
    const refreshed = await (await server.token(form)).json();
    for (const each of [claims, (await server.verify(refreshed.id_token)).claims]) {
      const expected = scopeClaimsInIdToken ? ["Alice Liddell", "alice", "alice@example.com", false] : [];
      const { name, preferred_username, email, email_verified } = each;
      assert.equal([name, preferred_username, email, email_verified].slice(0, expected.length), expected);
      assert.is("name" in each || "email" in each, scopeClaimsInIdToken);
    }
    // Claims of scopes that the user did not grant are not in it.
    assert.not.ok("name" in (await server.signInWith({ scope: "openid" })).claims);
  }
});

test("the device grant gives an ID token of the login that approved the device", async () => {
  const server = await newProvider({}, {}, [
    client("tv", { grant_types: ["urn:ietf:params:oauth:grant-type:device_code", "refresh_token"] }),
  ]);
  const credentials = { client_id: "tv", client_secret: "secret of tv" };
  const asked = await (await server.send("/oauth/device_authorization", {
    form: { ...credentials, scope: "openid read" },
  })).json();
  const cookie = await server.signIn();
  const page = await server.send("/device", { form: { user_code: asked.user_code }, headers: { cookie } });
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  await server.send("/device", { form, headers: { cookie } });
  server.advance(10);
  const tokens = await (await server.token({
    ...credentials,
    grant_type: "urn:ietf:params:oauth:grant-type:device_code",
    device_code: asked.device_code,
  })).json();
  const { claims } = await server.verify(tokens.id_token);
  assert.equal([claims.aud, claims.acr], ["tv", "password"]);
  assert.match(String(claims.sid), /^[\w-]{43}$/);
  assert.not.ok("nonce" in claims);
});

test("Core section 8: public subjects are equal at all clients, pairwise ones differ by sector and are stable", async () => {
  const server = await newProvider({}, {}, [
    client("first", { subject_type: "pairwise" }),
    client("same-host", { subject_type: "pairwise", redirect_uris: ["https://app.example/other"] }),
    client("second", { subject_type: "pairwise", redirect_uris: ["https://second.example/cb"] }),
    client("open", { subject_type: "public" }),
  ]);
  const subjectAt = async (client_id: string, redirect_uri = APP_URI) =>
    (await server.signInWith({ client_id, redirect_uri })).claims.sub as string;
  const first = await subjectAt("first");
  assert.is(await subjectAt("first"), first);
  assert.is(await subjectAt("same-host", "https://app.example/other"), first);
  assert.is.not(await subjectAt("second", "https://second.example/cb"), first);
  const usual = (await server.signInWith()).claims.sub;
  assert.is(await subjectAt("open"), usual);
  assert.is.not(first, usual);
  assert.not.match(first, /user_/);
});

test("Core section 8: pairwise is the default when it is the first subject type", async () => {
  const server = await newProvider({ subjectTypes: ["pairwise"] });
  assert.not.match(String((await server.signInWith()).claims.sub), /user_/);
});

test("attack: an ID token is no access token, and an access token is no ID token", async () => {
  const server = await newProvider({}, { accessTokenFormat: "jwt" });
  const { tokens } = await server.signInWith({ scope: "openid profile" });
  const send = (token: string) => server.send("/api/user", { headers: { authorization: `Bearer ${token}` } });
  assert.is((await send(tokens.access_token!)).status, 200);
  assert.is((await send(tokens.id_token!)).status, 401);
  const types = [tokens.access_token!, tokens.id_token!].map((token) => readJws(token)!.header.typ);
  assert.equal(types, ["at+jwt", "JWT"]);
});

test("attack: a code gives the nonce of its own request, once", async () => {
  const server = await newProvider();
  const code = (await server.authorize({ scope: "openid", nonce: "mine" })).get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI, nonce: "another" };
  const tokens = await (await server.token(form)).json();
  assert.is((await server.verify(tokens.id_token)).claims.nonce, "mine");
  const replay = await server.token(form);
  assert.equal([replay.status, (await replay.json()).error], [400, "invalid_grant"]);
});

test("a nonce that is too long is refused", async () => {
  const server = await newProvider();
  const answer = await server.authorize({ scope: "openid", nonce: "n".repeat(513) });
  assert.is(answer.get("error"), "invalid_request");
});

test("Core section 11: offline_access counts only with prompt=consent", async () => {
  const server = await newProvider();
  const scopeFor = async (parameters: Record<string, string>) =>
    (await server.signInWith({ scope: "openid offline_access", ...parameters })).tokens.scope;
  assert.is(await scopeFor({}), "openid");
  assert.is(await scopeFor({ prompt: "consent" }), "openid offline_access");
});

test.run();
