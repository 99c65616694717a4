import { suite } from "uvu";
import * as assert from "uvu/assert";
import { readJws } from "../../crypto/jws.ts";
import { listAll } from "../../store/store.ts";
import { toClient } from "../clients/client.ts";
import { newServer, type TestServer } from "../test_server.ts";

const test = suite("oauth/grant_refresh");

const refresh = (
  server: TestServer,
  refresh_token: string | undefined,
  more: Record<string, string | undefined> = {},
) => server.token({ grant_type: "refresh_token", refresh_token, ...more });

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

test("a refresh token gets a new access token and another refresh token", async () => {
  const server = await newServer();
  const before = await server.tokens({ scope: "read write" });
  const response = await refresh(server, before.refresh_token);
  assert.is(response.status, 200);
  const after = await response.json();
  assert.equal(Object.keys(after), ["access_token", "token_type", "expires_in", "refresh_token", "scope"]);
  assert.is(after.scope, "read write");
  assert.is.not(after.access_token, before.access_token);
  assert.is.not(after.refresh_token, before.refresh_token);
  assert.ok(await isActive(server, after.access_token));
});

test("within 30 seconds a retry gets the same response, and the family stays valid", async () => {
  const server = await newServer();
  const { refresh_token } = await server.tokens();
  const first = await (await refresh(server, refresh_token)).json();
  server.advance(29);
  const retried = await (await refresh(server, refresh_token)).json();
  assert.equal(retried, first);
  assert.is((await refresh(server, first.refresh_token)).status, 200);
});

test("a retry gets the same JWT access token", async () => {
  const server = await newServer({ accessTokenFormat: "jwt" });
  const { refresh_token } = await server.tokens();
  const first = await (await refresh(server, refresh_token)).json();
  assert.match(first.access_token, /^ey/);
  server.advance(5);
  assert.equal(await (await refresh(server, refresh_token)).json(), first);
});

test("a different request with the previous refresh token is reuse and revokes the family", async () => {
  for (const more of [{ scope: "read" }, { resource: "https://as.example/mcp" }]) {
    const server = await newServer();
    const { refresh_token } = await server.tokens({ scope: "read write" });
    const first = await (await refresh(server, refresh_token)).json();
    assert.equal(await refusal(await refresh(server, refresh_token, more)), [400, "invalid_grant"]);
    assert.equal(await refusal(await refresh(server, first.refresh_token)), [400, "invalid_grant"]);
  }
});

test("the store does not contain the refreshed tokens", async () => {
  const server = await newServer();
  const { refresh_token } = await server.tokens();
  const after = await (await refresh(server, refresh_token)).json();
  const records = JSON.stringify(await Array.fromAsync(listAll(server.store, [])));
  assert.ok(records.includes("grant"));
  for (const token of [refresh_token, after.refresh_token, after.access_token]) {
    assert.not.ok(records.includes(token.slice(-43)));
  }
});

test("RFC 9700 section 4.14.2: reuse of a refresh token after the grace period revokes the family", async () => {
  const server = await newServer();
  const first = await server.tokens();
  const second = await (await refresh(server, first.refresh_token)).json();
  server.advance(31);
  assert.equal(await refusal(await refresh(server, first.refresh_token)), [400, "invalid_grant"]);
  assert.equal(await refusal(await refresh(server, second.refresh_token)), [400, "invalid_grant"]);
  assert.not.ok(await isActive(server, second.access_token));
  assert.is(server.events.filter((event) => event.type === "refresh_replayed").length, 1);
});

test("reuse of a refresh token from two generations ago revokes the family, also within the grace period", async () => {
  const server = await newServer();
  const first = await server.tokens();
  const second = await (await refresh(server, first.refresh_token)).json();
  const third = await (await refresh(server, second.refresh_token)).json();
  assert.equal(await refusal(await refresh(server, first.refresh_token)), [400, "invalid_grant"]);
  assert.equal(await refusal(await refresh(server, third.refresh_token)), [400, "invalid_grant"]);
  assert.not.ok(await isActive(server, third.access_token));
});

for (
  const [name, accessTokenFormat] of [["opaque", "opaque"], [
    "JWTs, which contain the id of the grant",
    "jwt",
  ]] as const
) {
  test(`RFC 9700 section 4.14.2: a refresh token that was never issued revokes nothing (access tokens: ${name})`, async () => {
    const server = await newServer({ accessTokenFormat });
    const { refresh_token } = await server.tokens();
    const head = refresh_token!.split(".")[0] + ".";
    const last = refresh_token!.slice(-1);
    const forged = [
      head + "A".repeat(43),
      refresh_token!.slice(0, -1) + (last === "A" ? "B" : "A"),
      head + (refresh_token![head.length] === "B" ? "C" : "B") + refresh_token!.slice(head.length + 1),
      // The secret of another family with the id of this family.
      head + (await server.tokens()).refresh_token!.split(".")[1],
    ];
    for (const token of forged) {
      assert.equal(await refusal(await refresh(server, token)), [400, "invalid_grant"]);
    }
    assert.equal(server.events.filter((event) => event.type === "refresh_replayed"), []);
    assert.is((await refresh(server, refresh_token)).status, 200);
  });
}

test("a client that becomes public cannot use codes and refresh tokens that it got as a confidential client", async () => {
  const secret = { id: "web", secret: "web-secret", redirect_uris: ["https://web.example/cb"] };
  const before = await newServer({ clients: [toClient(secret, 0)] });
  const form = { client_id: "web", redirect_uri: "https://web.example/cb", scope: "read" };
  const code = (await before.authorize(form)).get("code")!;
  const other = (await before.authorize(form)).get("code")!;
  const redeem = (code: string) => ({ grant_type: "authorization_code", code, ...form, scope: undefined });
  const { refresh_token } = await (await before.token({ ...redeem(code), client_secret: "web-secret" }))
    .json();
  const { secret: _, ...open } = secret;
  const after = await newServer({ store: before.store, clients: [toClient(open, 0)] });
  const credentials = { client_id: "web", client_secret: undefined };
  assert.equal(await refusal(await refresh(after, refresh_token, credentials)), [400, "invalid_grant"]);
  assert.equal(await refusal(await after.token({ ...redeem(other), ...credentials })), [
    400,
    "invalid_grant",
  ]);
});

test("after the scope of a registration shrinks, a refresh of an older grant gets no more than that", async () => {
  const client = { id: "web", secret: "web-secret", redirect_uris: ["https://web.example/cb"] };
  const before = await newServer({ clients: [toClient(client, 0)] });
  const code = (await before.authorize({
    client_id: "web",
    redirect_uri: "https://web.example/cb",
    scope: "read write",
  })).get("code")!;
  const credentials = { client_id: "web", client_secret: "web-secret" };
  const tokens = await (await before.token({
    grant_type: "authorization_code",
    code,
    redirect_uri: "https://web.example/cb",
    ...credentials,
  })).json();
  assert.is(tokens.scope, "read write");
  const after = await newServer({
    store: before.store,
    clients: [toClient({ ...client, scope: "read" }, 0)],
  });
  const next = await (await refresh(after, tokens.refresh_token, credentials)).json();
  assert.is(next.scope, "read");
  const more = await refresh(after, next.refresh_token, { ...credentials, scope: "write" });
  assert.equal(await refusal(more), [400, "invalid_scope"]);
});

test("without a grace period the first reuse revokes the family", async () => {
  const server = await newServer({ refreshRetryGrace: 0 });
  const { refresh_token } = await server.tokens();
  const second = await (await refresh(server, refresh_token)).json();
  assert.equal(await refusal(await refresh(server, refresh_token)), [400, "invalid_grant"]);
  assert.equal(await refusal(await refresh(server, second.refresh_token)), [400, "invalid_grant"]);
});

test("8 concurrent refreshes get the same response, with one successor", async () => {
  const server = await newServer();
  for (let round = 0; round < 20; round++) {
    const { refresh_token } = await server.tokens();
    const responses = await Promise.all(Array.from({ length: 8 }, () => refresh(server, refresh_token)));
    const answers = await Promise.all(responses.map((response) => response.text()));
    assert.ok(responses.every((response) => response.status === 200));
    assert.is(new Set(answers).size, 1);
    assert.is((await refresh(server, JSON.parse(answers[0]!).refresh_token)).status, 200);
  }
});

test("exactly one of 8 concurrent refreshes without a grace period gets tokens", async () => {
  const server = await newServer({ refreshRetryGrace: 0 });
  const { refresh_token } = await server.tokens();
  const responses = await Promise.all(Array.from({ length: 8 }, () => refresh(server, refresh_token)));
  assert.is(responses.filter((response) => response.status === 200).length, 1);
});

test("RFC 6749 section 6: a refresh may narrow the scope, and the next refresh gets the whole scope", async () => {
  const server = await newServer();
  const { refresh_token } = await server.tokens({ scope: "read write" });
  const narrow = await (await refresh(server, refresh_token, { scope: "read" })).json();
  assert.is(narrow.scope, "read");
  assert.is((await (await refresh(server, narrow.refresh_token)).json()).scope, "read write");
});

test("RFC 6749 section 6: a refresh with more scope is refused, and the refresh token stays valid", async () => {
  const server = await newServer();
  const { refresh_token } = await server.tokens({ scope: "read" });
  assert.equal(await refusal(await refresh(server, refresh_token, { scope: "read write" })), [
    400,
    "invalid_scope",
  ]);
  assert.is((await refresh(server, refresh_token)).status, 200);
});

test("a refresh token is bound to its client, which must authenticate", async () => {
  const server = await newServer();
  const { refresh_token } = await server.tokens();
  const other = { client_id: "web", client_secret: "web-secret" };
  assert.equal(await refusal(await refresh(server, refresh_token, other)), [400, "invalid_grant"]);
  assert.equal(await refusal(await refresh(server, refresh_token, { client_secret: undefined })), [
    401,
    "invalid_client",
  ]);
  assert.is((await refresh(server, refresh_token)).status, 200, "the refused requests did not consume it");
});

for (
  const [what, token, error] of [
    ["no refresh_token", undefined, "invalid_request"],
    ["an empty refresh_token", "", "invalid_request"],
    [
      "a refresh_token that was never issued",
      "trivet_rt_" + "x".repeat(22) + "." + "y".repeat(43),
      "invalid_grant",
    ],
    ["a malformed refresh_token", "not a token", "invalid_grant"],
    ["a refresh_token of 10,000 characters", "x".repeat(10_000), "invalid_grant"],
  ] as const
) {
  test(`${what} gets ${error}`, async () => {
    assert.equal(await refusal(await refresh(await newServer(), token)), [400, error]);
  });
}

test("an access token is refused as a refresh token, and a refresh token as an access token", async () => {
  const server = await newServer();
  const { access_token, refresh_token } = await server.tokens();
  assert.equal(await refusal(await refresh(server, access_token)), [400, "invalid_grant"]);
  assert.not.ok(await isActive(server, refresh_token!));
});

test("a refresh token expires 7 days after its rotation", async () => {
  const server = await newServer();
  let { refresh_token } = await server.tokens();
  for (let day = 0; day < 21; day += 6) {
    server.advance(6 * 86_400);
    const response = await refresh(server, refresh_token);
    assert.is(response.status, 200);
    refresh_token = (await response.json()).refresh_token;
  }
  server.advance(7 * 86_400 + 1);
  assert.equal(await refusal(await refresh(server, refresh_token)), [400, "invalid_grant"]);
});

test("RFC 6749 section 5.1: an access token lives for expires_in, also when the refresh token ends before", async () => {
  for (const accessTokenFormat of ["opaque", "jwt"] as const) {
    const lifetimes = { accessTokenLifetime: 600, refreshTokenLifetime: 60 };
    const server = await newServer({ ...lifetimes, accessTokenFormat });
    const [alone, first] = [await server.tokens(), await server.tokens()];
    assert.is(first.expires_in as unknown, 600);
    server.advance(30);
    const second = await (await refresh(server, first.refresh_token)).json();
    server.advance(61);
    assert.equal(await refusal(await refresh(server, second.refresh_token)), [400, "invalid_grant"]);
    const states = async () => [
      await isActive(server, alone.access_token!),
      await isActive(server, first.access_token!),
      await isActive(server, second.access_token),
    ];
    server.advance(500);
    assert.equal(await states(), [true, true, true], "after 591 and 561 seconds");
    server.advance(15);
    assert.equal(await states(), [false, false, true], "after 606 and 576 seconds");
    server.advance(30);
    assert.equal(await states(), [false, false, false]);
  }
});

test("a removed client cannot refresh", async () => {
  const { addClient, removeClient } = await import("../clients/client.ts");
  const server = await newServer();
  const { client, secret } = await addClient(server.store, { id: "stored", domain: "app.example" });
  const credentials = { client_id: client.id, client_secret: secret };
  const code = (await server.authorize({ client_id: "stored" })).get("code")!;
  const form = {
    grant_type: "authorization_code",
    code,
    redirect_uri: "https://app.example/cb",
    ...credentials,
  };
  const { refresh_token } = await (await server.token(form)).json();
  assert.is(await removeClient(server.store, "stored"), true);
  assert.equal(await refusal(await refresh(server, refresh_token, credentials)), [401, "invalid_client"]);
});

test("the tokens of a removed user cannot be refreshed", async () => {
  const { removeUser } = await import("../users/remove_user.ts");
  const server = await newServer();
  const { refresh_token } = await server.tokens();
  assert.is(await removeUser(server.store, "alice"), true);
  assert.equal(await refusal(await refresh(server, refresh_token)), [400, "invalid_grant"]);
});

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`${accessTokenFormat}: no access token lives longer than its grant`, async () => {
    const server = await newServer({ accessTokenFormat, accessTokenLifetime: 7200, grantLifetime: 3600 });
    const first = await server.tokens();
    assert.is(Number(first.expires_in), 3600);
    server.advance(3000);
    const form = { grant_type: "refresh_token", refresh_token: first.refresh_token };
    const { access_token, expires_in } = await (await server.token(form)).json();
    assert.ok(expires_in <= 600 && expires_in > 590, `${expires_in} seconds`);
    if (accessTokenFormat === "jwt") {
      const { exp, iat } = readJws(access_token)!.claims as { exp: number; iat: number };
      assert.ok(exp - iat <= 601, `${exp - iat} seconds`);
    }
  });
}

test.run();
