import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../events.ts";
import { toClient } from "./clients/client.ts";
import { APP_URI, newServer, type TestServer, transactionOf } from "./test_server.ts";

const test = suite("oauth: what an observer is told");
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

/** What was told since the last look. */
function told(server: TestServer): TrivetEvent[] {
  return server.events.splice(0);
}

async function userOf(server: TestServer): Promise<string> {
  const [event] = told(server);
  assert.is(event?.type, "login_succeeded");
  return (event as { user: string }).user;
}

test("the code flow: login, consent, tokens, refresh, replay, revocation", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const user = await userOf(server);
  const page = await server.send(server.authorizePath(), { headers: { cookie } });
  const transaction = transactionOf(await page.text());
  assert.equal(told(server), []);
  const allowed = await server.send("/oauth/authorize", {
    form: { transaction, decision: "approve" },
    headers: { cookie },
  });
  assert.equal(told(server), [{ type: "consent_given", user, client: "app", scope: "read" }]);
  const code = new URL(allowed.headers.get("location")!).searchParams.get("code")!;
  const redeem = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
  const { refresh_token } = await (await server.token(redeem)).json();
  assert.equal(told(server), [{
    type: "token_issued",
    grant_type: "authorization_code",
    client: "app",
    user,
  }]);
  const refresh = { grant_type: "refresh_token", refresh_token };
  const next = (await (await server.token(refresh)).json()).refresh_token;
  assert.equal(told(server), [{ type: "token_issued", grant_type: "refresh_token", client: "app", user }]);
  const form = { token: next, client_id: "app", client_secret: "app secret:&%+" };
  assert.is((await server.send("/oauth/revoke", { form })).status, 200);
  assert.equal(told(server), [{ type: "token_revoked", client: "app", user }]);
  await server.token(redeem);
  assert.equal(told(server), [{ type: "code_replayed", client: "app", user }]);
  const again = await server.send(server.authorizePath(), { headers: { cookie } });
  assert.is(again.status, 302);
  assert.equal(told(server), [], "what was allowed before was not allowed anew");
  await server.send("/logout", { method: "POST", headers: { cookie } });
  assert.equal(told(server), [{ type: "logged_out", user }]);
});

test("a reused refresh token, a denial, and a client without a user", async () => {
  const server = await newServer({ refreshRetryGrace: 0 });
  const { refresh_token } = await server.tokens();
  await server.token({ grant_type: "refresh_token", refresh_token });
  const { user } = told(server).find(({ type }) => type === "token_issued") as { user: string };
  await server.token({ grant_type: "refresh_token", refresh_token });
  assert.equal(told(server), [{ type: "refresh_replayed", client: "app", user }]);
  await server.token({ grant_type: "client_credentials" });
  assert.equal(told(server), [{ type: "token_issued", grant_type: "client_credentials", client: "app" }]);
  const cookie = await server.signIn();
  const page = await server.send(server.authorizePath({ scope: "write" }), { headers: { cookie } });
  told(server);
  await server.send("/oauth/authorize", {
    form: { transaction: transactionOf(await page.text()), decision: "deny" },
    headers: { cookie },
  });
  assert.equal(told(server), [{ type: "consent_denied", user, client: "app" }]);
});

test("a device: allowed or denied, then its tokens", async () => {
  const clients = [toClient({ id: "tv", grant_types: [DEVICE] }, 0)];
  const server = await newServer({ clients });
  const cookie = await server.signIn();
  const user = await userOf(server);
  for (const decision of ["approve", "deny"]) {
    const asked = { client_id: "tv", scope: "read" };
    const device = await (await server.send("/oauth/device_authorization", { form: asked })).json();
    const page = await server.send("/device", { form: { user_code: device.user_code }, headers: { cookie } });
    const transaction = transactionOf(await page.text());
    await server.send("/device", { form: { transaction, decision }, headers: { cookie } });
    assert.equal(told(server), [
      decision === "deny"
        ? { type: "consent_denied", user, client: "tv" }
        : { type: "consent_given", user, client: "tv", scope: "read" },
    ]);
    const form = { grant_type: DEVICE, device_code: device.device_code, client_id: "tv" };
    await server.send("/oauth/token", { form });
    assert.equal(
      told(server),
      decision === "deny" ? [] : [{ type: "token_issued", grant_type: DEVICE, client: "tv", user }],
    );
  }
});

test("who fails: a wrong password with the name that was typed, a wrong secret with the client that was named", async () => {
  const server = await newServer();
  await server.send("/login", { form: { username: "alice", password: "wrong" } });
  assert.equal(told(server), [{ type: "login_failed", username: "alice", ip: undefined }]);
  await server.token({ grant_type: "client_credentials", client_secret: "wrong" });
  await server.token({ grant_type: "client_credentials", client_id: "x".repeat(300) });
  const reason = "Client authentication failed";
  assert.equal(told(server), [
    { type: "client_refused", client: "app", reason },
    { type: "client_refused", client: "x".repeat(256), reason },
  ]);
});

test("a client that registers itself", async () => {
  const server = await newServer();
  const response = await server.send("/oauth/register", {
    form: JSON.stringify({ redirect_uris: ["https://client.example/cb"] }),
    headers: { "content-type": "application/json" },
  });
  const { client_id } = await response.json();
  assert.equal(told(server), [{ type: "client_registered", client: client_id }]);
});

test.run();
