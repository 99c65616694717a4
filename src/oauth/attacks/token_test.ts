/**
 * Attacks on codes, tokens and secrets. Each test performs one from outside and checks that it fails. The numbers are
 * those of the table in `README.md` of this folder.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { encodeBase64url } from "../../crypto/base64url.ts";
import { readJws } from "../../crypto/jws.ts";
import { newKey, sign } from "../test_keys.ts";
import { APP_URI, CHALLENGE, ISSUER, newServer, type TestServer, VERIFIER } from "../test_server.ts";

const test = suite("attacks on tokens");
const PKCE = { code_challenge: CHALLENGE, code_challenge_method: "S256" };

async function answerOf(response: Response): Promise<[number, string]> {
  const { error, token_type } = await response.json();
  return [response.status, error ?? token_type];
}
const newCode = async (server: TestServer, parameters: Record<string, string> = {}) =>
  (await server.authorize(parameters)).get("code")!;
const redeem = (server: TestServer, code: string, form: Record<string, string | undefined> = {}) =>
  server.token({ grant_type: "authorization_code", code, redirect_uri: APP_URI, ...form });
const userStatus = async (server: TestServer, token: string) =>
  (await server.send("/api/user", { headers: { authorization: `Bearer ${token}` } })).status;

test("4. one of many concurrent redemptions of a code succeeds, and the replays revoke its tokens", async () => {
  const server = await newServer();
  const code = await newCode(server);
  const answers = await Promise.all(Array.from({ length: 16 }, () => redeem(server, code)));
  const good = answers.filter(({ status }) => status === 200);
  assert.is(good.length, 1);
  const { access_token, refresh_token } = await good[0]!.json();
  assert.is(await userStatus(server, access_token), 401);
  assert.equal(await answerOf(await server.token({ grant_type: "refresh_token", refresh_token })), [
    400,
    "invalid_grant",
  ]);
});

test("5. a stolen code is refused with another client, code_verifier or redirect_uri", async () => {
  const server = await newServer();
  for (
    const form of [
      { client_id: "web", client_secret: "web-secret", code_verifier: VERIFIER },
      { code_verifier: "x".repeat(43) },
      { code_verifier: undefined },
      { code_verifier: CHALLENGE },
      { code_verifier: VERIFIER, redirect_uri: APP_URI + "/" },
      { code_verifier: VERIFIER, redirect_uri: "https://evil.example/cb" },
    ]
  ) {
    const code = await newCode(server, PKCE);
    assert.equal(
      await answerOf(await redeem(server, code, form)),
      [400, "invalid_grant"],
      JSON.stringify(form),
    );
  }
});

test("6. an altered code is refused, and so is a token of the wrong kind (CVE-2026-16089, CVE-2026-4282)", async () => {
  const server = await newServer();
  const code = await newCode(server);
  for (let i = 0; i < code.length; i += 4) {
    const changed = code.slice(0, i) + (code[i] === "A" ? "B" : "A") + code.slice(i + 1);
    assert.equal(await answerOf(await redeem(server, changed)), [400, "invalid_grant"]);
  }
  const { access_token, refresh_token } = await (await redeem(server, code)).json();
  for (const other of [access_token, refresh_token, await server.signIn()]) {
    assert.equal(await answerOf(await redeem(server, other)), [400, "invalid_grant"]);
    assert.equal(
      await answerOf(
        await server.token({
          grant_type: "urn:ietf:params:oauth:grant-type:device_code",
          device_code: other,
        }),
      ),
      [400, "unauthorized_client"],
    );
  }
  assert.is(await userStatus(server, refresh_token), 401);
  assert.equal(
    await answerOf(await server.token({ grant_type: "refresh_token", refresh_token: access_token })),
    [400, "invalid_grant"],
  );
});

test("7. every authorization response, also an error, has the iss of the metadata (RFC 9207)", async () => {
  const server = await newServer();
  const { issuer } = await (await server.send("/.well-known/oauth-authorization-server")).json();
  assert.equal((await server.authorize()).getAll("iss"), [issuer]);
  const cookie = await server.signIn();
  for (
    const parameters of [{ scope: "unknown" }, { response_type: "token" }, { prompt: "none", scope: "write" }]
  ) {
    const response = await server.send(server.authorizePath(parameters), { headers: { cookie } });
    assert.equal(new URL(response.headers.get("location")!).searchParams.getAll("iss"), [issuer]);
  }
});

test("8. a PKCE downgrade is refused, and a wrong code_verifier consumes the code", async () => {
  const server = await newServer();
  const bare = await newCode(server);
  assert.equal(await answerOf(await redeem(server, bare, { code_verifier: VERIFIER })), [
    400,
    "invalid_grant",
  ]);
  const cookie = await server.signIn();
  for (
    const parameters of [
      { code_challenge: CHALLENGE },
      { code_challenge: VERIFIER, code_challenge_method: "plain" },
      { code_challenge_method: "S256" },
      { code_challenge: "a", code_challenge_method: "S256" },
      { ...PKCE, code_challenge_method: "s256" },
    ]
  ) {
    const response = await server.send(server.authorizePath(parameters), { headers: { cookie } });
    assert.is(
      new URL(response.headers.get("location")!).searchParams.get("error"),
      "invalid_request",
      JSON.stringify(parameters),
    );
  }
  const code = await newCode(server, PKCE);
  assert.equal(await answerOf(await redeem(server, code, { code_verifier: "g".repeat(43) })), [
    400,
    "invalid_grant",
  ]);
  assert.equal(await answerOf(await redeem(server, code, { code_verifier: VERIFIER })), [
    400,
    "invalid_grant",
  ], "the wrong code_verifier consumed the code");
  const short = await newCode(server, {
    ...PKCE,
    code_challenge: encodeBase64url(
      new Uint8Array(await crypto.subtle.digest("SHA-256", new TextEncoder().encode("a"))),
    ),
  });
  assert.equal(
    await answerOf(await redeem(server, short, { code_verifier: "a" })),
    [400, "invalid_grant"],
    "shorter than RFC 7636 section 4.1 allows",
  );
});

test("22, 23. reuse of a refresh token revokes its family, and concurrent refreshes get one successor", async () => {
  const server = await newServer({ refreshRetryGrace: 0 });
  const first = await server.tokens();
  const refresh = (refresh_token: string, more = {}) =>
    server.token({ grant_type: "refresh_token", refresh_token, ...more });
  const second = await (await refresh(first.refresh_token!)).json();
  assert.equal(await answerOf(await refresh(first.refresh_token!)), [400, "invalid_grant"]);
  assert.equal(await answerOf(await refresh(second.refresh_token)), [400, "invalid_grant"]);
  assert.is(await userStatus(server, second.access_token), 401);
  assert.equal(
    await answerOf(await refresh((await server.tokens()).refresh_token!, { client_secret: undefined })),
    [401, "invalid_client"],
    "CVE-2026-53512: without the secret",
  );

  const graceful = await newServer();
  const { refresh_token } = await graceful.tokens();
  const answers = await Promise.all(
    Array.from(
      { length: 16 },
      async () => await (await graceful.token({ grant_type: "refresh_token", refresh_token })).json(),
    ),
  );
  assert.is(
    new Set(answers.map((answer) => answer.refresh_token)).size,
    1,
    "GHSA-392p-2q2v-4372: one successor",
  );
});

test("24. a revoked token stays revoked on an instance that starts later (CVE-2026-9802)", async () => {
  for (const accessTokenFormat of ["opaque", "jwt"] as const) {
    const server = await newServer({ accessTokenFormat });
    const { access_token, refresh_token } = await server.tokens({ scope: "profile" });
    for (const token of [access_token, refresh_token]) {
      await server.send("/oauth/revoke", {
        form: { token, client_id: "app", client_secret: "app secret:&%+" },
      });
    }
    const later = await newServer({ accessTokenFormat, store: server.store });
    assert.is(await userStatus(later, access_token!), 401);
    assert.equal(await answerOf(await later.token({ grant_type: "refresh_token", refresh_token })), [
      400,
      "invalid_grant",
    ]);
  }
});

test("25, 26. a refresh with more scope or another resource than granted is refused (GHSA-p2fr-6hmx-4528)", async () => {
  const server = await newServer();
  const { refresh_token } = await server.tokens({ scope: "read", resource: `${ISSUER}/mcp` });
  const refresh = (more: Record<string, string>) =>
    server.token({ grant_type: "refresh_token", refresh_token, ...more });
  assert.equal(await answerOf(await refresh({ scope: "read write" })), [400, "invalid_scope"]);
  assert.equal(await answerOf(await refresh({ resource: ISSUER })), [400, "invalid_target"]);
  assert.equal(await answerOf(await refresh({ scope: "read" })), [200, "Bearer"]);
});

test("27. a client can neither revoke nor introspect a token of another client", async () => {
  const server = await newServer();
  const { access_token, refresh_token } = await server.tokens({ scope: "profile" });
  const web = { client_id: "web", client_secret: "web-secret" };
  for (const token of [access_token, refresh_token]) {
    assert.is((await server.send("/oauth/revoke", { form: { token, ...web } })).status, 400);
  }
  assert.equal(
    await (await server.send("/oauth/introspect", { form: { token: refresh_token, ...web } })).json(),
    { active: false },
  );
  const headers = { "content-type": "application/json" };
  const stranger = await (await server.send("/oauth/register", {
    method: "POST",
    form: JSON.stringify({ redirect_uris: [APP_URI] }),
    headers,
  })).json();
  const form = { token: access_token, client_id: stranger.client_id, client_secret: stranger.client_secret };
  assert.equal(await (await server.send("/oauth/introspect", { form })).json(), { active: false });
  assert.is(await userStatus(server, access_token!), 200);
});

test("28. a JWT of another key, algorithm or type, or with an embedded key, is refused as an access token", async () => {
  const server = await newServer({ accessTokenFormat: "jwt" });
  const { access_token } = await server.tokens({ scope: "profile" });
  const { header, claims } = readJws(access_token!)! as {
    header: Record<string, unknown>;
    claims: Record<string, unknown>;
  };
  assert.is(await userStatus(server, access_token!), 200);
  const mallory = await newKey();
  const { keys: [jwk] } = await (await server.send("/.well-known/jwks.json")).json();
  const hmac = await crypto.subtle.importKey(
    "raw",
    new TextEncoder().encode(JSON.stringify(jwk)),
    { name: "HMAC", hash: "SHA-256" },
    false,
    ["sign"],
  );
  const encode = (value: unknown) => encodeBase64url(new TextEncoder().encode(JSON.stringify(value)));
  const confused = `${encode({ ...header, alg: "HS256" })}.${encode(claims)}`;
  const mac = encodeBase64url(
    new Uint8Array(await crypto.subtle.sign("HMAC", hmac, new TextEncoder().encode(confused))),
  );
  const [head, body, signature] = access_token!.split(".");
  const forged = [
    `${encode({ ...header, alg: "none" })}.${body}.`,
    `${encode({ ...header, alg: "None" })}.${body}.${signature}`,
    `${confused}.${mac}`,
    await sign(mallory, header, claims),
    await sign(mallory, { ...header, jwk: mallory.jwk }, claims),
    await sign(mallory, { ...header, jku: "https://evil.example/keys", kid: "evil" }, claims),
    await sign(mallory, { ...header, kid: "../../key" }, claims),
    `${head}.${encode({ ...claims, scope: "profile admin" })}.${signature}`,
    `${encode({ ...header, typ: "JWT" })}.${body}.${signature}`,
    `${head}.${body}.${signature!.slice(0, -4)}AAAA`,
    `${head}.${body}.`,
    `${head}.${body}`,
    `${access_token}.x`,
    access_token + "=",
  ];
  for (const token of forged) assert.is(await userStatus(server, token), 401, token.slice(0, 80));
});

test("39. a client cannot impersonate a user: the server assigns ids, and a client's own token has no user", async () => {
  const server = await newServer();
  const [user] = await server.store.list<{ id: string }>(["user"]);
  const headers = { "content-type": "application/json" };
  const metadata = { client_id: user!.value.id, sub: user!.value.id, redirect_uris: [APP_URI] };
  const { client_id } =
    await (await server.send("/oauth/register", { method: "POST", form: JSON.stringify(metadata), headers }))
      .json();
  assert.match(client_id, /^client_/);
  const own = await (await server.token({ grant_type: "client_credentials" })).json();
  assert.is(await userStatus(server, own.access_token), 403);
});

test("45. secrets have at least 256 bits, a prefix that names their kind, and are unique", async () => {
  const server = await newServer();
  const seen = new Set<string>();
  for (let i = 0; i < 50; i++) {
    const code = await newCode(server, { prompt: "consent" });
    const { access_token, refresh_token } = await (await redeem(server, code)).json();
    assert.match(code, /^trivet_ac_[A-Za-z0-9_-]{43}$/);
    assert.match(access_token, /^trivet_at_[A-Za-z0-9_-]{43}$/);
    assert.match(refresh_token, /^trivet_rt_[A-Za-z0-9_-]{22}\.[A-Za-z0-9_-]{43}$/);
    for (const secret of [code, access_token, refresh_token]) seen.add(secret);
  }
  assert.is(seen.size, 150);
  // The store has digests only.
  for (const kind of ["code", "access_token", "grant", "session", "transaction"]) {
    const entries = await server.store.list([kind], { limit: 1000 });
    if (kind !== "transaction") assert.ok(entries.length > 0, kind);
    for (const entry of entries) {
      const text = JSON.stringify(entry);
      for (const secret of seen) assert.not.ok(text.includes(secret), kind);
    }
  }
});

test.run();
