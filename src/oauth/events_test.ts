import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { TrivetEvent } from "../events.ts";
import { createAudit } from "../observability/audit.ts";
import { listAudit } from "../observability/read_audit.ts";
import { toClient } from "./clients/client.ts";
import { APP_URI, ISSUER, newServer, type TestServer, transactionOf } from "./test_server.ts";

const test = suite("oauth: events");
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

/** The events since the last call. */
function takeEvents(server: TestServer): TrivetEvent[] {
  return server.events.splice(0);
}

/** The event of a refusal of the token endpoint. */
const refusal = (grant_type: string, client = "app", error = "invalid_grant"): TrivetEvent => ({
  type: "token_refused",
  grant_type,
  client,
  error,
  ip: undefined,
});

async function userOf(server: TestServer): Promise<string> {
  const [event] = takeEvents(server);
  assert.is(event?.type, "login_succeeded");
  return (event as { user: string }).user;
}

test("the code flow reports login, consent, tokens, refresh, revocation, replay and logout", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const user = await userOf(server);
  const page = await server.send(server.authorizePath(), { headers: { cookie } });
  const transaction = transactionOf(await page.text());
  assert.equal(takeEvents(server), []);
  const allowed = await server.send("/oauth/authorize", {
    form: { transaction, decision: "approve" },
    headers: { cookie },
  });
  assert.equal(takeEvents(server), [{ type: "consent_given", user, client: "app", scope: "read" }]);
  const code = new URL(allowed.headers.get("location")!).searchParams.get("code")!;
  const redeem = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
  const { refresh_token } = await (await server.token(redeem)).json();
  assert.equal(takeEvents(server), [{
    type: "token_issued",
    grant_type: "authorization_code",
    client: "app",
    user,
  }]);
  const refresh = { grant_type: "refresh_token", refresh_token };
  const next = (await (await server.token(refresh)).json()).refresh_token;
  assert.equal(takeEvents(server), [{
    type: "token_issued",
    grant_type: "refresh_token",
    client: "app",
    user,
  }]);
  const form = { token: next, client_id: "app", client_secret: "app secret:&%+" };
  assert.is((await server.send("/oauth/revoke", { form })).status, 200);
  assert.equal(takeEvents(server), [{ type: "token_revoked", client: "app", user }]);
  await server.token(redeem);
  assert.equal(takeEvents(server), [
    { type: "code_replayed", client: "app", user },
    refusal("authorization_code"),
  ]);
  const again = await server.send(server.authorizePath(), { headers: { cookie } });
  assert.is(again.status, 302);
  assert.equal(takeEvents(server), [], "remembered consent is not given again");
  await server.send("/logout", { method: "POST", headers: { cookie } });
  assert.equal(takeEvents(server), [{ type: "logged_out", user }]);
});

test("a replayed refresh token, a denied consent, and a token without a user are reported", async () => {
  const server = await newServer({ refreshRetryGrace: 0 });
  const { refresh_token } = await server.tokens();
  await server.token({ grant_type: "refresh_token", refresh_token });
  const { user } = takeEvents(server).find(({ type }) => type === "token_issued") as { user: string };
  await server.token({ grant_type: "refresh_token", refresh_token });
  assert.equal(takeEvents(server), [
    { type: "refresh_replayed", client: "app", user },
    refusal("refresh_token"),
  ]);
  await server.token({ grant_type: "client_credentials" });
  assert.equal(takeEvents(server), [{
    type: "token_issued",
    grant_type: "client_credentials",
    client: "app",
  }]);
  const cookie = await server.signIn();
  const page = await server.send(server.authorizePath({ scope: "write" }), { headers: { cookie } });
  takeEvents(server);
  await server.send("/oauth/authorize", {
    form: { transaction: transactionOf(await page.text()), decision: "deny" },
    headers: { cookie },
  });
  assert.equal(takeEvents(server), [{ type: "consent_denied", user, client: "app" }]);
});

test("the device flow reports the decision, then the tokens", async () => {
  const clients = [toClient({ id: "tv", grant_types: [DEVICE] }, 0)];
  const server = await newServer({ clients });
  const cookie = await server.signIn();
  const user = await userOf(server);
  for (const decision of ["approve", "deny"]) {
    const request = { client_id: "tv", scope: "read" };
    const device = await (await server.send("/oauth/device_authorization", { form: request })).json();
    const page = await server.send("/device", { form: { user_code: device.user_code }, headers: { cookie } });
    const transaction = transactionOf(await page.text());
    await server.send("/device", { form: { transaction, decision }, headers: { cookie } });
    assert.equal(takeEvents(server), [
      decision === "deny"
        ? { type: "consent_denied", user, client: "tv" }
        : { type: "consent_given", user, client: "tv", scope: "read" },
    ]);
    const form = { grant_type: DEVICE, device_code: device.device_code, client_id: "tv" };
    await server.send("/oauth/token", { form });
    assert.equal(
      takeEvents(server),
      decision === "deny"
        ? [refusal(DEVICE, "tv", "access_denied")]
        : [{ type: "token_issued", grant_type: DEVICE, client: "tv", user }],
    );
  }
});

test("a failed login is reported with the username, a failed client authentication with the client_id", async () => {
  const server = await newServer();
  await server.send("/login", { form: { username: "alice", password: "wrong" } });
  const user = (await server.store.get<string>(["username", "alice"]))!.value;
  assert.equal(takeEvents(server), [{ type: "login_failed", username: "alice", ip: undefined, user }]);
  await server.token({ grant_type: "client_credentials", client_secret: "wrong" });
  await server.token({ grant_type: "client_credentials", client_id: "x".repeat(300) });
  const refusals = takeEvents(server).map((event) => {
    const { reason, ...rest } = event as TrivetEvent & { readonly reason: string };
    assert.type(reason, "string");
    return rest;
  });
  assert.equal(refusals, [
    { type: "client_refused", client: "app", ip: undefined },
    { type: "client_refused", client: "x".repeat(256), ip: undefined },
  ]);
});

test("a dynamic registration is reported", async () => {
  const server = await newServer();
  const response = await server.send("/oauth/register", {
    form: JSON.stringify({ redirect_uris: ["https://client.example/cb"] }),
    headers: { "content-type": "application/json" },
  });
  const { client_id } = await response.json();
  assert.equal(takeEvents(server), [{ type: "client_registered", client: client_id, ip: undefined }]);
});

test("many registrations of one network displace none of another in the audit trail", async () => {
  const server = await newServer();
  const audit = createAudit({ store: server.store });
  const register = async (ip: string) => {
    const request = new Request(`${ISSUER}/oauth/register`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ redirect_uris: ["https://client.example/cb"] }),
    });
    return (await (await server.service.fetch(request, { ip })).json()).client_id;
  };
  for (let i = 0; i < 6; i++) await register("198.51.100.1");
  const client = await register("198.51.100.2");
  for (const event of takeEvents(server)) audit.add(event);
  await audit.close();
  const records = await Array.fromAsync(listAudit(server.store, { about: client }));
  assert.equal(records.map(({ type }) => type), ["client_registered"]);
});

test("a refusal of the token endpoint is reported with its error, a step of a grant is not", async () => {
  const server = await newServer();
  const refused = [
    [{ grant_type: "authorization_code", code: "unknown", redirect_uri: APP_URI }, "invalid_grant"],
    [{ grant_type: "refresh_token", refresh_token: "unknown" }, "invalid_grant"],
    [{ grant_type: "made up" }, "unsupported_grant_type"],
  ] as const;
  for (const [form, error] of refused) {
    assert.is((await server.token(form)).status, 400);
    const grant_type = error === "invalid_grant" ? form.grant_type : "other";
    assert.equal(takeEvents(server), [refusal(grant_type, "app", error)]);
  }
});

test.run();
