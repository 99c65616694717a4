import { suite } from "uvu";
import * as assert from "uvu/assert";
import { interruptAfter, loseNextResponse } from "../../store/test_meanwhile.ts";
import { toClient } from "../clients/client.ts";
import { APP_URI, CHALLENGE, newServer, type TestServer, VERIFIER } from "../test_server.ts";

const test = suite("oauth/grant_code");

async function newCode(
  server: TestServer,
  parameters?: Record<string, string | undefined>,
): Promise<Record<string, string>> {
  const code = (await server.authorize(parameters)).get("code")!;
  return { grant_type: "authorization_code", code, redirect_uri: parameters?.redirect_uri ?? APP_URI };
}

async function refusal(response: Response): Promise<[number, string]> {
  const body = await response.json();
  assert.not.ok("access_token" in body);
  return [response.status, body.error];
}

async function isActive(server: TestServer, access_token: string): Promise<boolean> {
  const headers = { authorization: `Bearer ${access_token}` };
  // 403 means that the token is valid and lacks the scope.
  return (await server.send("/api/user", { headers })).status !== 401;
}

test("a code gets an access token and a refresh token, with the members of RFC 6749 section 5.1", async () => {
  const server = await newServer();
  const response = await server.token(await newCode(server));
  assert.is(response.status, 200);
  assert.is(response.headers.get("cache-control"), "no-store");
  const body = await response.json();
  assert.equal(Object.keys(body), ["access_token", "token_type", "expires_in", "refresh_token", "scope"]);
  assert.is(body.token_type, "Bearer");
  assert.is(body.expires_in, 7200);
  assert.is(body.scope, "read");
  assert.ok(await isActive(server, body.access_token));
});

test("PKCE: the code_verifier of the code_challenge is accepted", async () => {
  const server = await newServer();
  const form = await newCode(server, { code_challenge: CHALLENGE, code_challenge_method: "S256" });
  assert.is((await server.token({ ...form, code_verifier: VERIFIER })).status, 200);
});

test("a public client redeems its code with the code_verifier and no secret", async () => {
  const server = await newServer();
  const redirect_uri = "http://127.0.0.1:49152/callback";
  const form = await newCode(server, {
    client_id: "native",
    redirect_uri,
    scope: "read",
    code_challenge: CHALLENGE,
    code_challenge_method: "S256",
  });
  const client = { client_id: "native", client_secret: undefined };
  assert.is((await server.token({ ...form, ...client, code_verifier: VERIFIER })).status, 200);
});

for (
  const [what, code_verifier, rule] of [
    ["another verifier", "x".repeat(43)],
    ["the challenge itself", CHALLENGE],
    ["no verifier", undefined],
    ["an empty verifier", ""],
    ["a verifier of 42 characters", VERIFIER.slice(1), "RFC 7636 section 4.1"],
    ["a verifier of 129 characters", "x".repeat(129), "RFC 7636 section 4.1"],
    ["a verifier with other letters", VERIFIER.slice(1) + "+", "RFC 7636 section 4.1"],
  ] as const
) {
  test(`PKCE: ${what} gets invalid_grant and consumes the code`, async () => {
    const server = await newServer();
    const form = await newCode(server, { code_challenge: CHALLENGE, code_challenge_method: "S256" });
    const refused = await server.token({ ...form, code_verifier });
    const { error_description } = await refused.clone().json();
    assert.equal(await refusal(refused), [400, "invalid_grant"]);
    assert.is(error_description.includes("RFC 7636 section 4.1"), rule !== undefined, error_description);
    assert.equal(await refusal(await server.token({ ...form, code_verifier: VERIFIER })), [
      400,
      "invalid_grant",
    ]);
  });
}

test("RFC 9700 section 4.8.2: a code_verifier without a code_challenge is refused (downgrade)", async () => {
  const server = await newServer();
  const form = await newCode(server);
  assert.equal(await refusal(await server.token({ ...form, code_verifier: VERIFIER })), [
    400,
    "invalid_grant",
  ]);
});

for (
  const [what, form, error] of [
    ["no code", { code: undefined }, "invalid_request"],
    ["an unknown code", { code: "trivet_ac_" + "x".repeat(43) }, "invalid_grant"],
    [
      "no redirect_uri, although the authorization request had one",
      { redirect_uri: undefined },
      "invalid_request",
    ],
    ["another redirect_uri", { redirect_uri: APP_URI + "/" }, "invalid_grant"],
    ["another client", { client_id: "web", client_secret: "web-secret" }, "invalid_grant"],
  ] as const
) {
  test(`${what} gets ${error}, and the client can still redeem the code`, async () => {
    const server = await newServer();
    const good = await newCode(server);
    assert.equal(await refusal(await server.token({ ...good, ...form })), [400, error]);
    assert.is((await server.token(good)).status, 200);
  });
}

test("a code expires after 60 seconds", async () => {
  const server = await newServer();
  const [early, late] = [await newCode(server), await newCode(server)];
  server.advance(59);
  assert.is((await server.token(early)).status, 200);
  server.advance(2);
  assert.equal(await refusal(await server.token(late)), [400, "invalid_grant"]);
});

test("RFC 6749 section 4.1.2: a replayed code is refused, and its tokens are revoked", async () => {
  const server = await newServer();
  const form = await newCode(server);
  const tokens = await (await server.token(form)).json();
  assert.ok(await isActive(server, tokens.access_token));
  assert.equal(await refusal(await server.token(form)), [400, "invalid_grant"]);
  assert.not.ok(await isActive(server, tokens.access_token));
  const refresh = { grant_type: "refresh_token", refresh_token: tokens.refresh_token };
  assert.equal(await refusal(await server.token(refresh)), [400, "invalid_grant"]);
  assert.equal(server.events.filter((event) => event.type === "code_replayed").length, 1);
});

test("OAuth 2.1 draft section 7.5.3: a replay without the right code_verifier revokes nothing", async () => {
  const server = await newServer();
  const form = await newCode(server, { code_challenge: CHALLENGE, code_challenge_method: "S256" });
  const right = { ...form, code_verifier: VERIFIER };
  const tokens = await (await server.token(right)).json();
  for (const wrong of [{ ...form, code_verifier: "x".repeat(43) }, form]) {
    assert.equal(await refusal(await server.token(wrong)), [400, "invalid_grant"]);
  }
  assert.ok(await isActive(server, tokens.access_token));
  assert.equal(await refusal(await server.token(right)), [400, "invalid_grant"]);
  assert.not.ok(await isActive(server, tokens.access_token));
});

test("a replay after the code has expired also revokes its tokens", async () => {
  const server = await newServer();
  const form = await newCode(server);
  const tokens = await (await server.token(form)).json();
  server.advance(300);
  assert.equal(await refusal(await server.token(form)), [400, "invalid_grant"]);
  assert.not.ok(await isActive(server, tokens.access_token));
});

test("exactly one of 8 concurrent redemptions gets tokens, in each of 50 rounds", async () => {
  const server = await newServer();
  for (let round = 0; round < 50; round++) {
    const form = await newCode(server);
    const responses = await Promise.all(Array.from({ length: 8 }, () => server.token(form)));
    assert.is(responses.filter((response) => response.status === 200).length, 1);
    assert.is(responses.filter((response) => response.status === 400).length, 7);
  }
});

test("exactly one of two instances on one store redeems a code", async () => {
  const first = await newServer();
  const { service: other } = await newServer({ store: first.store });
  const form = { ...(await newCode(first)), client_id: "app", client_secret: "app secret:&%+" };
  const request = () =>
    new Request("https://as.example/oauth/token", { method: "POST", body: new URLSearchParams(form) });
  const responses = await Promise.all(
    [other, first.service, other, first.service].map((as) => as.fetch(request())),
  );
  assert.is(responses.filter((response) => response.status === 200).length, 1);
});

test("a client without the refresh_token grant gets no refresh token", async () => {
  const { toClient } = await import("../clients/client.ts");
  const client = toClient({
    id: "app",
    secret: "app secret:&%+",
    domain: "app.example",
    grant_types: ["authorization_code"],
  }, 0);
  const server = await newServer({ clients: [client] });
  const body = await (await server.token(await newCode(server))).json();
  assert.not.ok("refresh_token" in body);
  assert.ok(await isActive(server, body.access_token));
});

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`a code is redeemed when only the response of the commit is lost: ${accessTokenFormat}`, async () => {
    const server = await newServer({ accessTokenFormat });
    const form = await newCode(server);
    const lost = loseNextResponse(server.store, "code");
    const response = await server.token(form);
    assert.equal([lost.isDone, response.status], [true, 200]);
    const { access_token, refresh_token } = await response.json();
    assert.ok(await isActive(server, access_token));
    assert.is((await server.token({ grant_type: "refresh_token", refresh_token })).status, 200);
    assert.equal(server.events.filter(({ type }) => type === "code_replayed"), []);
  });

  test(`so is the code of a client that may not refresh: ${accessTokenFormat}`, async () => {
    const app = { id: "app", secret: "app secret:&%+", domain: "app.example" };
    const clients = [toClient({ ...app, grant_types: ["authorization_code"] }, 0)];
    const server = await newServer({ accessTokenFormat, clients });
    const form = await newCode(server);
    const lost = loseNextResponse(server.store, "code");
    const response = await server.token(form);
    assert.equal([lost.isDone, response.status], [true, 200]);
    const { access_token, refresh_token } = await response.json();
    assert.equal([await isActive(server, access_token), refresh_token], [true, undefined]);
  });

  test(`a code whose commit failed can be redeemed again: ${accessTokenFormat}`, async () => {
    const server = await newServer({ accessTokenFormat });
    const form = await newCode(server);
    const restore = interruptAfter(server.store, 0);
    assert.is((await server.token(form)).status, 503);
    restore();
    assert.is((await server.token(form)).status, 200);
  });
}

test.run();
