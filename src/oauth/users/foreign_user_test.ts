/**
 * Users whom another system names (`authenticateUser`, trusted issuers): it gives their ids again after a removal here.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { randomId } from "../../crypto/secret.ts";
import { interruptAfter } from "../../store/test_meanwhile.ts";
import { get, post } from "../account/test_account.ts";
import { toClient } from "../clients/client.ts";
import { aliceOf, askDevice, codeOf, poll, redeem, tv } from "../grants/test_ended_grants.ts";
import { newKey, sign } from "../test_keys.ts";
import { CLIENTS, ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";
import { removeUser } from "./remove_user.ts";
import { lockUser, unlockUser, updateUser } from "./user_changes.ts";

const test = suite("oauth/users/foreign_user");

const ID = "dir|7";
const bob = () => Promise.resolve({ id: ID, name: "Bob", email: "bob@example.com" });
const newForeign = () =>
  newServer({ clients: [...CLIENTS.map((client) => toClient(client, 0)), tv], authenticateUser: bob });

async function statusOf(server: TestServer, token: string | undefined): Promise<number> {
  return (await server.send("/api/user", { headers: { authorization: `Bearer ${token}` } })).status;
}

test("attack: codes that were approved before a removal are refused after the next login, too", async () => {
  const server = await newForeign();
  const cookie = await server.signIn();
  const { device_code, user_code } = await askDevice(server);
  const transaction = transactionOf(await (await post(server, "/device", cookie, { user_code })).text());
  await post(server, "/device", cookie, { transaction, decision: "approve" });
  const code = await codeOf(server);
  server.advance(1);
  assert.is(await removeUser(server.store, ID), true);
  server.advance(6);
  assert.equal(await poll(server, device_code), [400, "invalid_grant"]);
  await server.signIn();
  server.advance(6);
  assert.equal(await poll(server, device_code), [400, "invalid_grant"]);
  assert.equal(await redeem(server, code), [400, "invalid_grant"]);
  assert.is((await redeem(server, await codeOf(server)))[0], 200, "what the user allows now");
});

test("attack: what an interrupted removal left is refused after the next login, too", async () => {
  for (let commits = 1, isDone = false; !isDone; commits++) {
    const server = await newForeign();
    const tokens = await server.tokens({ scope: "read profile" });
    const session = await server.signIn();
    server.advance(1);
    const restore = interruptAfter(server.store, commits);
    assert.is(await removeUser(server.store, ID), true);
    isDone = !restore();
    server.advance(1);
    const next = await server.signIn();
    assert.is((await get(server, "/account", next)).status, 200);
    assert.is((await get(server, "/account", session)).status, 302, `the session, ${commits} commits`);
    assert.is(await statusOf(server, tokens.access_token), 401, `the token, ${commits} commits`);
    const refreshed = await server.token({
      grant_type: "refresh_token",
      refresh_token: tokens.refresh_token!,
    });
    assert.is(refreshed.status, 400, `the refresh token, ${commits} commits`);
    assert.ok(commits < 20);
  }
});

for (const accessTokenFormat of ["opaque", "jwt"] as const) {
  test(`attack: a token (${accessTokenFormat}) for an assertion from before a removal is refused after the next assertion, too`, async () => {
    const grant_type = "urn:ietf:params:oauth:grant-type:jwt-bearer";
    const key = await newKey("ES256", "idp-1");
    const server = await newServer({
      clients: [toClient({ id: "agent", secret: "s", grant_types: [grant_type] }, 0)],
      accessTokenFormat,
      trustedIssuers: [{ issuer: "https://idp.example", jwks: { keys: [key.jwk] }, user: bob }],
    });
    const iat = Math.floor(Date.now() / 1000);
    const ask = async (): Promise<string> => {
      const claims = {
        iss: "https://idp.example",
        sub: "u",
        aud: ISSUER,
        iat,
        exp: iat + 300,
        jti: randomId(""),
      };
      const assertion = await sign(key, { typ: "JWT", kid: "idp-1" }, claims);
      const form = { grant_type, client_id: "agent", client_secret: "s", scope: "read profile", assertion };
      return (await (await server.send("/oauth/token", { form })).json()).access_token;
    };
    const before = await ask();
    assert.is(await statusOf(server, before), 200);
    await removeUser(server.store, ID);
    server.advance(2);
    const after = await ask();
    assert.equal([await statusOf(server, before), await statusOf(server, after)], [401, 200]);
  });
}

test("a lock and a role of a user of this server whom another system names hold for their tokens, too", async () => {
  const server = await newServer({
    authenticateUser: async () => ({ id: await aliceOf(server), name: "Alice", email: "" }),
    scopes: {
      profile: "Know who you are",
      read: "Read",
      write: { description: "Change notes", role: "author" },
    },
  });
  const tokens = await server.tokens({ scope: "read profile" });
  const refresh = async () =>
    (await server.token({ grant_type: "refresh_token", refresh_token: tokens.refresh_token! })).status;
  assert.is(await statusOf(server, tokens.access_token), 200);
  await lockUser(server.store, "alice");
  assert.equal([await statusOf(server, tokens.access_token), await refresh()], [401, 400]);
  await unlockUser(server.store, "alice");
  assert.equal([await statusOf(server, tokens.access_token), await refresh()], [200, 200]);
  await updateUser(server.store, "alice", { role: "admin" });
  assert.is((await server.store.list<{ role?: string }>(["profile"]))[0]!.value.role, "admin");
});

test("a user of this server who is locked gets no token when another system names them first", async () => {
  const server = await newServer({
    authenticateUser: async () => ({ id: await aliceOf(server), name: "Alice", email: "" }),
  });
  await lockUser(server.store, "alice");
  const form = { username: "alice", password: "wonderland" };
  assert.is((await server.send("/login", { form })).status, 401);
});

test.run();
