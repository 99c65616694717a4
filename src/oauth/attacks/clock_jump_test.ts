/**
 * Everything revoked or consumed stays refused after the clock jumps three hours ahead, the store is swept, and the clock
 * is corrected: a sweep removes no record whose absence would grant something.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import { createAssertion, createProof, newKey, sign } from "../test_keys.ts";
import { APP_URI, CLIENTS, ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";
import { removeUser } from "../users/remove_user.ts";

const test = suite("oauth: after a clock jump");
const GRANT = "urn:ietf:params:oauth:grant-type:";
const TOKEN = `${ISSUER}/oauth/token`;
const IDP = "https://idp.example";
const APP = { client_id: "app", client_secret: "app secret:&%+" };
const THREE_HOURS = 3 * 3600;
const key = await newKey("ES256", "k-1");

const start = (accessTokenFormat: "opaque" | "jwt") =>
  newServer({
    accessTokenFormat,
    trustedIssuers: [{ issuer: IDP, jwks: { keys: [key.jwk] }, user: () => Promise.resolve(BOB) }],
    clients: [
      ...CLIENTS.map((client) => toClient(client, 0)),
      toClient({ id: "tv", grant_types: [`${GRANT}device_code`] }, 0),
      toClient({ id: "agent", secret: "s", grant_types: [`${GRANT}jwt-bearer`] }, 0),
      toClient({ id: "signer", jwks: { keys: [key.jwk] }, grant_types: ["client_credentials"] }, 0),
    ],
  });
const BOB = { id: "idp|bob", name: "Bob", email: "bob@example.com" };

async function jump(server: TestServer): Promise<void> {
  server.advance(THREE_HOURS);
  await server.store.sweep();
  server.advance(-THREE_HOURS);
}

const isActive = async (server: TestServer, token: string): Promise<boolean> =>
  (await (await server.send("/oauth/introspect", { form: { token, ...APP } })).json()).active;
const revoke = (server: TestServer, token: string) =>
  server.send("/oauth/revoke", { form: { token, ...APP } });
const isOk = async (response: Promise<Response>): Promise<boolean> => (await response).status === 200;
const decide = (server: TestServer, cookie: string, path: string, transaction: string) =>
  server.send(path, { form: { transaction, decision: "approve" }, headers: { cookie } });

/** Creates a credential, checks that it is accepted, revokes or consumes it; the result tries it again. */
type Ending = (server: TestServer) => Promise<() => Promise<boolean>>;

const ENDINGS: Readonly<Record<string, Ending>> = {
  async "a revoked access token"(server) {
    const { access_token } = await server.tokens();
    assert.ok(await isActive(server, access_token!));
    await revoke(server, access_token!);
    return () => isActive(server, access_token!);
  },
  async "a revoked access token, after its refresh token was used"(server) {
    const { access_token, refresh_token } = await server.tokens();
    await revoke(server, access_token!);
    assert.ok(await isOk(server.token({ grant_type: "refresh_token", refresh_token })));
    return () => isActive(server, access_token!);
  },
  async "a revoked access token of a client's own"(server) {
    const issue = async () =>
      (await (await server.token({ grant_type: "client_credentials" })).json()).access_token;
    const [revoked, other] = [await issue(), await issue()];
    await revoke(server, revoked);
    assert.ok(await isActive(server, other), "another token of the client");
    return () => isActive(server, revoked);
  },
  async "a revoked refresh token"(server) {
    const { access_token, refresh_token } = await server.tokens();
    await revoke(server, refresh_token!);
    return async () =>
      await isActive(server, access_token!) ||
      await isOk(server.token({ grant_type: "refresh_token", refresh_token }));
  },
  async "a family whose refresh token was replayed"(server) {
    const { refresh_token } = await server.tokens();
    const next = await (await server.token({ grant_type: "refresh_token", refresh_token })).json();
    const last =
      await (await server.token({ grant_type: "refresh_token", refresh_token: next.refresh_token })).json();
    assert.not.ok(await isOk(server.token({ grant_type: "refresh_token", refresh_token })));
    return async () =>
      await isActive(server, last.access_token) ||
      await isOk(server.token({ grant_type: "refresh_token", refresh_token: last.refresh_token }));
  },
  async "a removed user"(server) {
    const { access_token } = await server.tokens();
    assert.ok(await isActive(server, access_token!));
    await removeUser(server.store, "alice");
    return () => isActive(server, access_token!);
  },
  async "a session after logout"(server) {
    const cookie = await server.signIn();
    assert.ok(await isOk(server.send(server.authorizePath(), { headers: { cookie } })));
    await server.send("/logout", { method: "POST", headers: { cookie } });
    return () => isOk(server.send(server.authorizePath(), { headers: { cookie } }));
  },
  async "a consumed code"(server) {
    const code = (await server.authorize()).get("code")!;
    const use = () => isOk(server.token({ grant_type: "authorization_code", code, redirect_uri: APP_URI }));
    assert.ok(await use());
    return use;
  },
  async "a consumed device code"(server) {
    const form = { client_id: "tv", scope: "read" };
    const { device_code, user_code } = await (await server.send("/oauth/device_authorization", { form }))
      .json();
    const cookie = await server.signIn();
    const page = await server.send("/device", { form: { user_code }, headers: { cookie } });
    await decide(server, cookie, "/device", transactionOf(await page.text()));
    const redeem = { grant_type: `${GRANT}device_code`, device_code, client_id: "tv" };
    const use = () => isOk(server.send("/oauth/token", { form: redeem }));
    assert.ok(await use());
    return use;
  },
  async "an answered consent page"(server) {
    const cookie = await server.signIn();
    const page = await server.send(server.authorizePath(), { headers: { cookie } });
    const transaction = transactionOf(await page.text());
    const use = async () => (await decide(server, cookie, "/oauth/authorize", transaction)).status === 302;
    assert.ok(await use());
    return use;
  },
  async "a consumed request_uri"(server) {
    const form = { ...APP, response_type: "code", redirect_uri: APP_URI, scope: "read" };
    const { request_uri } = await (await server.send("/oauth/par", { form })).json();
    const path = `/oauth/authorize?client_id=app&request_uri=${encodeURIComponent(request_uri)}`;
    const open = (cookie: string) => server.send(path, { headers: { cookie } });
    const cookie = await server.signIn();
    await decide(server, cookie, "/oauth/authorize", transactionOf(await (await open(cookie)).text()));
    return async () => (await open(await server.signIn())).status !== 400;
  },
  async "a used DPoP proof"(server) {
    const dpop = await createProof(key, TOKEN);
    const use = () => isOk(server.token({ grant_type: "client_credentials" }, { dpop }));
    assert.ok(await use());
    return use;
  },
  async "a used client assertion"(server) {
    const client_assertion = await createAssertion(key, "signer", ISSUER);
    const client_assertion_type = "urn:ietf:params:oauth:client-assertion-type:jwt-bearer";
    const form = { grant_type: "client_credentials", client_assertion, client_assertion_type };
    const use = () => isOk(server.send("/oauth/token", { form }));
    assert.ok(await use());
    return use;
  },
  async "a used assertion of an identity provider"(server) {
    const claims = { iss: IDP, sub: "bob", aud: ISSUER, jti: "1", exp: Math.floor(Date.now() / 1000) + 60 };
    const assertion = await sign(key, { typ: "JWT", kid: "k-1" }, claims);
    const form = { grant_type: `${GRANT}jwt-bearer`, assertion, client_id: "agent", client_secret: "s" };
    const use = () => isOk(server.send("/oauth/token", { form }));
    assert.ok(await use());
    return use;
  },
};

for (const format of ["opaque", "jwt"] as const) {
  for (const [name, end] of Object.entries(ENDINGS)) {
    test(`${format}: ${name} stays refused`, async () => {
      const server = await start(format);
      const isAcceptedAgain = await end(server);
      assert.not.ok(await isAcceptedAgain(), "before the jump");
      await jump(server);
      assert.not.ok(await isAcceptedAgain(), "after the jump");
    });
  }
}

test("of many revoked tokens of one grant the oldest stay revoked, and later tokens are active", async () => {
  const server = await start("jwt");
  const tokens = await server.tokens();
  let { refresh_token } = tokens;
  const revoked = [tokens.access_token!];
  for (let i = 0; i < 70; i++) {
    server.advance(1);
    const next = await (await server.token({ grant_type: "refresh_token", refresh_token })).json();
    refresh_token = next.refresh_token;
    await revoke(server, revoked.at(-1)!);
    revoked.push(next.access_token);
  }
  assert.ok(await isActive(server, revoked.pop()!));
  for (const token of revoked) assert.not.ok(await isActive(server, token));
  const [grant] = await server.store.list<{ revoked: { tokens: unknown[] } }>(["grant"]);
  assert.is(grant!.value.revoked.tokens.length, 64);
});

test("concurrent revocations all take effect", async () => {
  const server = await start("jwt");
  const first = await server.tokens();
  const second =
    await (await server.token({ grant_type: "refresh_token", refresh_token: first.refresh_token })).json();
  const own = await Promise.all(
    [1, 2, 3].map(async () =>
      (await (await server.token({ grant_type: "client_credentials" })).json()).access_token
    ),
  );
  const all = [first.access_token!, second.access_token, ...own];
  for (const token of all) assert.ok(await isActive(server, token));
  await Promise.all(all.map((token) => revoke(server, token)));
  for (const token of all) assert.not.ok(await isActive(server, token));
});

test.run();
