import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws } from "../../crypto/jws.ts";
import { toClient } from "../clients/client.ts";
import { newKey, prove, type TestKey } from "../test_keys.ts";
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
  test(`RFC 9449 sections 5 to 7: a bound ${accessTokenFormat} token works with proofs of its key, and only so`, async () => {
    const server = await newServer({ accessTokenFormat });
    const key = await newKey();
    const code = (await server.authorize({ scope: "profile" })).get("code")!;
    const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
    const response = await server.token(form, { dpop: await prove(key, TOKEN) });
    const { access_token, token_type } = await response.json();
    assert.is(token_type, "DPoP");
    if (accessTokenFormat === "jwt") assert.equal(readJws(access_token)!.claims.cnf, { jkt: key.jkt });
    const proof = (more = {}) => prove(key, USER, { htm: "GET", token: access_token, ...more });
    assert.is((await askUser(server, access_token, await proof())).status, 200);
    const bearer = await askUser(server, access_token, await proof(), "Bearer");
    assert.equal([bearer.status, /^Bearer error="invalid_token"/.test(bearer.challenge)], [401, true]);
    const bare = await askUser(server, access_token, undefined);
    assert.equal([bare.status, /^DPoP error="invalid_dpop_proof"/.test(bare.challenge)], [401, true]);
    assert.match(
      bare.challenge,
      / algs="ES256 EdDSA RS256 PS256"$/,
      "RFC 9449 section 7.1: which proofs are taken",
    );
    const other = await askUser(
      server,
      access_token,
      await prove(await newKey(), USER, { htm: "GET", token: access_token }),
    );
    assert.equal([other.status, /error="invalid_token"/.test(other.challenge)], [401, true]);
    const unbound = (await (await server.token(CC)).json()).access_token;
    assert.is(
      (await askUser(server, unbound, await prove(key, USER, { htm: "GET", token: unbound }))).status,
      401,
    );
  });
}

test("RFC 9449 section 6.2: introspection tells the key", async () => {
  const server = await newServer();
  const key = await newKey();
  const { access_token } = await (await server.token(CC, { dpop: await prove(key, TOKEN) })).json();
  const form = { token: access_token, client_id: "web", client_secret: "web-secret" };
  const answer = await (await server.send("/oauth/introspect", { form })).json();
  assert.equal([answer.token_type, answer.cnf], ["DPoP", { jkt: key.jkt }]);
});

const now = () => Math.floor(Date.now() / 1000);
/** The list of section 4.3, each point broken once; the words of some tell which was seen. */
const BROKEN: Record<string, (key: TestKey) => Promise<string>> = {
  "two proofs": async (key) => `${await prove(key, TOKEN)}, ${await prove(key, TOKEN)}`,
  "no JWT": () => Promise.resolve("x"),
  "another typ": (key) => prove(key, TOKEN, { header: { typ: "JWT" } }),
  "no typ": (key) => prove(key, TOKEN, { header: { typ: undefined } }),
  "alg none": (key) => prove(key, TOKEN, { header: { alg: "none" } }),
  "a shared-secret alg": (key) =>
    prove(key, TOKEN, { header: { alg: "HS256", jwk: { kty: "oct", k: "AAAA" } } }),
  "a private key": (key) => prove(key, TOKEN, { header: { jwk: { ...key.jwk, d: "AAAA" } } }),
  "no key": (key) => prove(key, TOKEN, { header: { jwk: undefined } }),
  "another key than signed it": async (key) => prove(key, TOKEN, { header: { jwk: (await newKey()).jwk } }),
  "another method": (key) => prove(key, TOKEN, { htm: "GET" }),
  "the method in another case": (key) => prove(key, TOKEN, { htm: "post" }),
  "another path": (key) => prove(key, ISSUER + "/oauth/par"),
  "another host": (key) => prove(key, "https://evil.example/oauth/token"),
  "another scheme": (key) => prove(key, "http://as.example/oauth/token"),
  "no address": (key) => prove(key, TOKEN, { htu: undefined }),
  "an old time": (key) => prove(key, TOKEN, { iat: now() - 62 }),
  "a time to come": (key) => prove(key, TOKEN, { iat: now() + 62 }),
  "no time": (key) => prove(key, TOKEN, { iat: undefined }),
  "no jti": (key) => prove(key, TOKEN, { jti: undefined }),
  "an endless jti": (key) => prove(key, TOKEN, { jti: "x".repeat(300) }),
};
for (const [name, make] of Object.entries(BROKEN)) {
  test(`invalid_dpop_proof: ${name}`, async () => {
    const server = await newServer();
    const response = await server.token(CC, { dpop: await make(await newKey()) });
    assert.equal([response.status, (await response.json()).error], [400, "invalid_dpop_proof"]);
  });
}

test("the error says which rule the proof breaks", async () => {
  const server = await newServer();
  const key = await newKey();
  const okp = await newKey("EdDSA");
  const good = await prove(key, TOKEN);
  for (
    const [dpop, rule] of [
      [`${good}, ${good}`, "one DPoP header field"],
      [await prove(key, TOKEN, { filler: "x".repeat(4096) }), "one DPoP header field"],
      ["e30.e30", "not a JWT"],
      [await prove(key, TOKEN, { header: { alg: "HS256" } }), "alg must be one of"],
      [await prove(key, TOKEN, { header: { jwk: { ...key.jwk, d: "AAAA" } } }), "jwk: "],
      [await prove(key, TOKEN, { header: { jwk: okp.jwk } }), "jwk does not match alg"],
      [await prove(key, "https://user@as.example/oauth/token"), "htu must be"],
      [await prove(key, "https://:word@as.example/oauth/token"), "htu must be"],
      [await prove(key, TOKEN, { jti: "" }), "jti is required"],
    ] as const
  ) {
    const { error, error_description } = await (await server.token(CC, { dpop })).json();
    assert.equal([error, error_description.includes(rule)], ["invalid_dpop_proof", true], error_description);
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
    assert.is((await server.token(CC, { dpop: await prove(await newKey(), htu) })).status, 200, htu);
  }
});

test("a proof is good once: replayed it is refused, also at the same moment and elsewhere", async () => {
  const server = await newServer();
  const key = await newKey();
  const dpop = await prove(key, TOKEN);
  const answers = await Promise.all(Array.from({ length: 8 }, () => server.token(CC, { dpop })));
  assert.is(answers.filter(({ status }) => status === 200).length, 1);
  assert.is((await (await server.token(CC, { dpop })).json()).error, "invalid_dpop_proof");
  const { access_token } = await (await server.token(CC, { dpop: await prove(key, TOKEN) })).json();
  const atUser = await prove(key, USER, { htm: "GET", token: access_token });
  assert.is(
    (await askUser(server, access_token, atUser)).status,
    403,
    "a client's token: good, but without a user",
  );
  assert.is((await askUser(server, access_token, atUser)).status, 401);
  const without = await askUser(server, access_token, await prove(key, USER, { htm: "GET" }));
  assert.match(without.challenge, "ath must be");
});

test("section 8: where a nonce is required, the error brings one, and it holds for a while", async () => {
  const server = await newServer({ requireDpopNonce: true });
  const key = await newKey();
  const first = await server.token(CC, { dpop: await prove(key, TOKEN) });
  const nonce = first.headers.get("dpop-nonce")!;
  assert.equal([first.status, (await first.json()).error], [400, "use_dpop_nonce"]);
  const good = await server.token(CC, { dpop: await prove(key, TOKEN, { nonce }) });
  assert.equal([good.status, good.headers.get("dpop-nonce")], [200, null]);
  const made = await server.token(CC, { dpop: await prove(key, TOKEN, { nonce: "made-up" }) });
  assert.is((await made.json()).error, "use_dpop_nonce");
  const { access_token } = await good.json();
  const atUser = await askUser(
    server,
    access_token,
    await prove(key, USER, { htm: "GET", token: access_token }),
  );
  assert.equal([atUser.status, atUser.nonce], [401, nonce]);
  assert.match(atUser.challenge, 'DPoP error="use_dpop_nonce"');

  server.advance(120);
  const later = () => ({ nonce, iat: now() + 120 });
  const renewed = await server.token(CC, { dpop: await prove(key, TOKEN, later()) });
  assert.is(renewed.status, 200);
  const next = renewed.headers.get("dpop-nonce");
  assert.ok(next && next !== nonce, "an answer to the old one brings the new one");
  server.advance(120);
  const old = await server.token(CC, { dpop: await prove(key, TOKEN, { nonce, iat: now() + 240 }) });
  assert.is((await old.json()).error, "use_dpop_nonce");
});

test("section 10: a dpop_jkt that is not a thumbprint is an error at the client", async () => {
  const server = await newServer();
  for (const dpop_jkt of ["x", "x".repeat(44), "=".repeat(43)]) {
    const answer = await server.send(server.authorizePath({ dpop_jkt }), {
      headers: { cookie: await server.signIn() },
    });
    const { searchParams } = new URL(answer.headers.get("location")!);
    assert.is(searchParams.get("error"), "invalid_request", dpop_jkt);
    assert.match(searchParams.get("error_description")!, "dpop_jkt must be");
  }
});

test("section 10: a code that was asked for with a key is redeemed with that key", async () => {
  const server = await newServer();
  const key = await newKey();
  const redeem = async (dpop?: string) => {
    const code = (await server.authorize({ dpop_jkt: key.jkt })).get("code")!;
    const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
    const response = await server.token(form, dpop === undefined ? {} : { dpop });
    return [response.status, (await response.json()).error];
  };
  assert.equal(await redeem(), [400, "invalid_grant"]);
  assert.equal(await redeem(await prove(await newKey(), TOKEN)), [400, "invalid_grant"]);
  assert.equal(await redeem(await prove(key, TOKEN)), [200, undefined]);
});

test("section 5: a public client's refresh token is bound to its key, a confidential one's is not", async () => {
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
  const { refresh_token } = await (await server.token(form, { dpop: await prove(key, TOKEN) })).json();
  const refresh = async (token: string, dpop?: string, more: Record<string, string | undefined> = spa) => {
    const response = await server.token(
      { grant_type: "refresh_token", refresh_token: token, ...more },
      dpop === undefined ? {} : { dpop },
    );
    return { status: response.status, body: await response.json() };
  };
  assert.is((await refresh(refresh_token)).body.error, "invalid_grant");
  assert.is((await refresh(refresh_token, await prove(await newKey(), TOKEN))).body.error, "invalid_grant");
  const good = await refresh(refresh_token, await prove(key, TOKEN));
  assert.equal([good.status, good.body.token_type], [200, "DPoP"], "refusals did not end the family");

  const own = await server.tokens();
  const changed = await refresh(own.refresh_token!, await prove(await newKey(), TOKEN), {});
  assert.equal([changed.status, changed.body.token_type], [200, "DPoP"]);
});

test("a client that must use DPoP gets nothing without", async () => {
  const server = await newServer({
    clients: [
      toClient(
        { id: "app", secret: "app secret:&%+", domain: "app.example", dpop_bound_access_tokens: true },
        0,
      ),
    ],
  });
  assert.is((await (await server.token(CC)).json()).error, "invalid_dpop_proof");
  assert.is((await server.token(CC, { dpop: await prove(await newKey(), TOKEN) })).status, 200);
});

test.run();
