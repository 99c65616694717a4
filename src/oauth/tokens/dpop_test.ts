import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws } from "../../crypto/jws.ts";
import { toClient } from "../clients/client.ts";
import { createProof, newKey, type TestKey } from "../test_keys.ts";
import { APP_URI, CHALLENGE, ISSUER, newServer, type TestServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/dpop");
const TOKEN = ISSUER + "/oauth/token";
const USER = ISSUER + "/api/user";
const CC = { grant_type: "client_credentials" };
const PUBLIC = [toClient({ id: "spa", redirect_uris: ["https://spa.example/cb"] }, 0)];

const askUser = async (server: TestServer, token: string, dpop: string | undefined, scheme = "DPoP") => {
  const response = await server.send("/api/user", {
    headers: { authorization: `${scheme} ${token}`, ...(dpop !== undefined && { dpop }) },
  });
  return {
    status: response.status,
    challenge: response.headers.get("www-authenticate") ?? "",
    nonce: response.headers.get("dpop-nonce"),
  };
};

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`RFC 9449 sections 5 to 7: a DPoP-bound ${accessTokenFormat} token is accepted only with a proof of its key`, async () => {
    const server = await newServer({ accessTokenFormat });
    const key = await newKey();
    const code = (await server.authorize({ scope: "profile" })).get("code")!;
    const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
    const response = await server.token(form, { dpop: await createProof(key, TOKEN) });
    const { access_token, token_type } = await response.json();
    assert.is(token_type, "DPoP");
    if (accessTokenFormat === "jwt") assert.equal(readJws(access_token)!.claims.cnf, { jkt: key.jkt });
    const proof = (more = {}) => createProof(key, USER, { htm: "GET", token: access_token, ...more });
    assert.is((await askUser(server, access_token, await proof())).status, 200);
    const bearer = await askUser(server, access_token, await proof(), "Bearer");
    assert.equal([bearer.status, /^Bearer error="invalid_token"/.test(bearer.challenge)], [401, true]);
    const unproven = await askUser(server, access_token, undefined);
    assert.equal([unproven.status, /^DPoP error="invalid_dpop_proof"/.test(unproven.challenge)], [401, true]);
    assert.match(
      unproven.challenge,
      / algs="ES256 Ed25519 EdDSA RS256 PS256"$/,
      "RFC 9449 section 7.1: the supported algorithms",
    );
    const other = await askUser(
      server,
      access_token,
      await createProof(await newKey(), USER, { htm: "GET", token: access_token }),
    );
    assert.equal([other.status, /error="invalid_token"/.test(other.challenge)], [401, true]);
    const unbound = (await (await server.token(CC)).json()).access_token;
    assert.is(
      (await askUser(server, unbound, await createProof(key, USER, { htm: "GET", token: unbound }))).status,
      401,
    );
  });
}

test("RFC 9449 section 6.2: introspection has the thumbprint of the key", async () => {
  const server = await newServer();
  const key = await newKey();
  const { access_token } = await (await server.token(CC, { dpop: await createProof(key, TOKEN) })).json();
  const form = { token: access_token, client_id: "web", client_secret: "web-secret" };
  const answer = await (await server.send("/oauth/introspect", { form })).json();
  assert.equal([answer.token_type, answer.cnf], ["DPoP", { jkt: key.jkt }]);
});

const now = () => Math.floor(Date.now() / 1000);
/** Proofs that each break one check of section 4.3. */
const INVALID: Record<string, (key: TestKey) => Promise<string>> = {
  "two proofs": async (key) => `${await createProof(key, TOKEN)}, ${await createProof(key, TOKEN)}`,
  "text that is not a JWT": () => Promise.resolve("x"),
  "another typ": (key) => createProof(key, TOKEN, { header: { typ: "JWT" } }),
  "no typ": (key) => createProof(key, TOKEN, { header: { typ: undefined } }),
  "alg none": (key) => createProof(key, TOKEN, { header: { alg: "none" } }),
  "a shared-secret alg": (key) =>
    createProof(key, TOKEN, { header: { alg: "HS256", jwk: { kty: "oct", k: "AAAA" } } }),
  "a private key": (key) => createProof(key, TOKEN, { header: { jwk: { ...key.jwk, d: "AAAA" } } }),
  "no jwk": (key) => createProof(key, TOKEN, { header: { jwk: undefined } }),
  "another key than signed it": async (key) =>
    createProof(key, TOKEN, { header: { jwk: (await newKey()).jwk } }),
  "another method": (key) => createProof(key, TOKEN, { htm: "GET" }),
  "the method in another case": (key) => createProof(key, TOKEN, { htm: "post" }),
  "another path": (key) => createProof(key, ISSUER + "/oauth/par"),
  "another host": (key) => createProof(key, "https://evil.example/oauth/token"),
  "another scheme": (key) => createProof(key, "http://as.example/oauth/token"),
  "no htu": (key) => createProof(key, TOKEN, { htu: undefined }),
  "an old iat": (key) => createProof(key, TOKEN, { iat: now() - 62 }),
  "an iat in the future": (key) => createProof(key, TOKEN, { iat: now() + 62 }),
  "no iat": (key) => createProof(key, TOKEN, { iat: undefined }),
  "no jti": (key) => createProof(key, TOKEN, { jti: undefined }),
  "a jti that is too long": (key) => createProof(key, TOKEN, { jti: "x".repeat(300) }),
};
for (const [name, make] of Object.entries(INVALID)) {
  test(`a proof with ${name} gets invalid_dpop_proof`, async () => {
    const server = await newServer();
    const response = await server.token(CC, { dpop: await make(await newKey()) });
    assert.equal([response.status, (await response.json()).error], [400, "invalid_dpop_proof"]);
  });
}

test("the error names the part of the proof that is invalid", async () => {
  const server = await newServer();
  const key = await newKey();
  const okp = await newKey("EdDSA");
  const good = await createProof(key, TOKEN);
  for (
    const [dpop, part] of [
      [`${good}, ${good}`, /\bDPoP header\b/],
      [await createProof(key, TOKEN, { filler: "x".repeat(4096) }), /\bDPoP header\b/],
      ["e30.e30", /\bJWT\b/],
      [await createProof(key, TOKEN, { header: { alg: "HS256" } }), /\balg\b/],
      [await createProof(key, TOKEN, { header: { jwk: { ...key.jwk, d: "AAAA" } } }), /\bjwk\b/],
      [await createProof(key, TOKEN, { header: { jwk: okp.jwk } }), /\bjwk\b.*\balg\b/],
      [await createProof(key, "https://user@as.example/oauth/token"), /\bhtu\b/],
      [await createProof(key, "https://:word@as.example/oauth/token"), /\bhtu\b/],
      [await createProof(key, TOKEN, { jti: "" }), /\bjti\b/],
    ] as const
  ) {
    const { error, error_description } = await (await server.token(CC, { dpop })).json();
    assert.equal([error, part.test(error_description)], ["invalid_dpop_proof", true], error_description);
  }
});

test("htu is compared without query and fragment, in any usual spelling", async () => {
  const server = await newServer();
  for (
    const htu of [
      TOKEN,
      TOKEN + "?a=b",
      TOKEN + "#c",
      "https://AS.example:443/oauth/token",
      "HTTPS://as.example/oauth/./token",
    ]
  ) {
    assert.is((await server.token(CC, { dpop: await createProof(await newKey(), htu) })).status, 200, htu);
  }
});

test("a replayed proof is refused, also when concurrent and at a protected resource", async () => {
  const server = await newServer();
  const key = await newKey();
  const dpop = await createProof(key, TOKEN);
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.token(CC, { dpop })));
  assert.is(answers.filter(({ status }) => status === 200).length, 1);
  assert.is((await (await server.token(CC, { dpop })).json()).error, "invalid_dpop_proof");
  const { access_token } = await (await server.token(CC, { dpop: await createProof(key, TOKEN) })).json();
  const atUser = await createProof(key, USER, { htm: "GET", token: access_token });
  assert.is(
    (await askUser(server, access_token, atUser)).status,
    403,
    "the proof is accepted, and the token has no user",
  );
  assert.is((await askUser(server, access_token, atUser)).status, 401);
  const without = await askUser(server, access_token, await createProof(key, USER, { htm: "GET" }));
  assert.match(without.challenge, /error="invalid_dpop_proof".*\bath\b/);
});

test("section 8: a server that requires a nonce sends one with the error, accepts it for a while, and then sends the next", async () => {
  const server = await newServer({ requireDpopNonce: true });
  const key = await newKey();
  const first = await server.token(CC, { dpop: await createProof(key, TOKEN) });
  const nonce = first.headers.get("dpop-nonce")!;
  assert.equal([first.status, (await first.json()).error], [400, "use_dpop_nonce"]);
  const good = await server.token(CC, { dpop: await createProof(key, TOKEN, { nonce }) });
  assert.equal([good.status, good.headers.get("dpop-nonce")], [200, null]);
  const made = await server.token(CC, { dpop: await createProof(key, TOKEN, { nonce: "made-up" }) });
  assert.is((await made.json()).error, "use_dpop_nonce");
  const { access_token } = await good.json();
  const atUser = await askUser(
    server,
    access_token,
    await createProof(key, USER, { htm: "GET", token: access_token }),
  );
  assert.equal([atUser.status, atUser.nonce], [401, nonce]);
  assert.match(atUser.challenge, 'DPoP error="use_dpop_nonce"');

  server.advance(120);
  const later = () => ({ nonce, iat: now() + 120 });
  const renewed = await server.token(CC, { dpop: await createProof(key, TOKEN, later()) });
  assert.is(renewed.status, 200);
  const next = renewed.headers.get("dpop-nonce");
  assert.ok(next && next !== nonce, "the response to the old nonce has the next one");
  server.advance(120);
  const old = await server.token(CC, { dpop: await createProof(key, TOKEN, { nonce, iat: now() + 240 }) });
  assert.is((await old.json()).error, "use_dpop_nonce");
});

test("section 10: a dpop_jkt that is not a thumbprint gets invalid_request at the client", async () => {
  const server = await newServer();
  for (const dpop_jkt of ["x", "x".repeat(44), "=".repeat(43)]) {
    const answer = await server.send(server.authorizePath({ dpop_jkt }), {
      headers: { cookie: await server.signIn() },
    });
    const { searchParams } = new URL(answer.headers.get("location")!);
    assert.is(searchParams.get("error"), "invalid_request", dpop_jkt);
    assert.match(searchParams.get("error_description")!, "dpop_jkt");
  }
});

test("section 10: a code that was requested with dpop_jkt is redeemed with that key only", async () => {
  const server = await newServer();
  const key = await newKey();
  const redeem = async (dpop?: string) => {
    const code = (await server.authorize({ dpop_jkt: key.jkt })).get("code")!;
    const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
    const response = await server.token(form, dpop === undefined ? {} : { dpop });
    return [response.status, (await response.json()).error];
  };
  assert.equal(await redeem(), [400, "invalid_grant"]);
  assert.equal(await redeem(await createProof(await newKey(), TOKEN)), [400, "invalid_grant"]);
  assert.equal(await redeem(await createProof(key, TOKEN)), [200, undefined]);
});

test("section 5: a refresh token of a public client is bound to its key, one of a confidential client is not", async () => {
  const server = await newServer({
    clients: [...PUBLIC, toClient({ id: "app", secret: "app secret:&%+", domain: "app.example" }, 0)],
  });
  const key = await newKey();
  const redirect_uri = "https://spa.example/cb";
  const code = (await server.authorize({
    client_id: "spa",
    redirect_uri,
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  })).get("code")!;
  const spa = { client_id: "spa", client_secret: undefined };
  const form = { grant_type: "authorization_code", code, redirect_uri, code_verifier: VERIFIER, ...spa };
  const { refresh_token } = await (await server.token(form, { dpop: await createProof(key, TOKEN) })).json();
  const refresh = async (token: string, dpop?: string, more: Record<string, string | undefined> = spa) => {
    const response = await server.token(
      { grant_type: "refresh_token", refresh_token: token, ...more },
      dpop === undefined ? {} : { dpop },
    );
    return { status: response.status, body: await response.json() };
  };
  assert.is((await refresh(refresh_token)).body.error, "invalid_grant");
  assert.is(
    (await refresh(refresh_token, await createProof(await newKey(), TOKEN))).body.error,
    "invalid_grant",
  );
  const good = await refresh(refresh_token, await createProof(key, TOKEN));
  assert.equal(
    [good.status, good.body.token_type],
    [200, "DPoP"],
    "the refused requests did not revoke the family",
  );

  const own = await server.tokens();
  const changed = await refresh(own.refresh_token!, await createProof(await newKey(), TOKEN), {});
  assert.equal([changed.status, changed.body.token_type], [200, "DPoP"]);
});

test("a client with dpop_bound_access_tokens gets no token without a proof", async () => {
  const server = await newServer({
    clients: [
      toClient(
        { id: "app", secret: "app secret:&%+", domain: "app.example", dpop_bound_access_tokens: true },
        0,
      ),
    ],
  });
  assert.is((await (await server.token(CC)).json()).error, "invalid_dpop_proof");
  assert.is((await server.token(CC, { dpop: await createProof(await newKey(), TOKEN) })).status, 200);
});

test.run();
