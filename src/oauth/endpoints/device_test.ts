import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { losingRaces } from "../../store/test_losing_races.ts";
import { register } from "./test_registration.ts";
import { ISSUER, newServer, transactionOf } from "../test_server.ts";
import { clients, decide, enterCode, GRANT, poll, start } from "./test_device.ts";

const test = suite("oauth/device");

test("RFC 8628 section 3.2: the device authorization response has all members", async () => {
  const server = await newServer({ clients });
  const device = await start(server);
  assert.match(device.device_code, /^trivet_dc_[A-Za-z0-9_-]{43}$/);
  assert.match(device.user_code, /^[BCDFGHJKLMNPQRSTVWXZ]{4}-[BCDFGHJKLMNPQRSTVWXZ]{4}$/);
  assert.is(device.verification_uri, `${ISSUER}/device`);
  assert.is(device.verification_uri_complete, `${ISSUER}/device?user_code=${device.user_code}`);
  assert.equal([device.expires_in, device.interval], [600, 5]);
});

test("a decision that loses every race gets 503, and a retry succeeds", async () => {
  let loses = false;
  const store = losingRaces(
    memoryStore(),
    ({ remove = [] }) => loses && remove.some(([kind]) => kind === "transaction"),
  );
  const server = await newServer({ clients, store });
  const device = await start(server);
  const cookie = await server.signIn();
  const transaction = transactionOf(await (await enterCode(server, cookie, device.user_code)).text());
  const send = () =>
    server.send("/device", { form: { transaction, decision: "approve" }, headers: { cookie } });
  loses = true;
  const refused = await send();
  assert.equal([refused.status, refused.headers.has("retry-after")], [503, true]);
  loses = false;
  assert.is((await send()).status, 200);
  assert.is((await poll(server, device.device_code))[0], 200);
});

test("the whole flow: pending, the user enters the code and approves, tokens, refresh", async () => {
  const server = await newServer({ clients });
  const { device_code, user_code } = await start(server, { scope: "profile read" });
  assert.equal((await poll(server, device_code)).slice(0, 2), [400, "authorization_pending"]);
  const cookie = await server.signIn();
  const page = await (await enterCode(server, cookie, ` ${user_code.toLowerCase().replace("-", " ")} `))
    .text();
  assert.match(page, "<h1>Television ");
  assert.match(page, "Read your data");
  assert.match(page, user_code);
  const done = await server.send("/device", {
    form: { transaction: transactionOf(page), decision: "approve" },
    headers: { cookie },
  });
  assert.equal([done.status, /<form/.test(await done.text())], [200, false]);
  server.advance(5);
  const [status, type_, tokens] = await poll(server, device_code);
  assert.equal([status, type_, tokens.scope], [200, "Bearer", "profile read"]);
  const user = await server.send("/api/user", {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  assert.is((await user.json()).name, "Alice Liddell");
  const form = { grant_type: "refresh_token", refresh_token: tokens.refresh_token, client_id: "tv" };
  assert.is((await server.send("/oauth/token", { form })).status, 200);
});

test("section 3.5: a device that polls too often gets slow_down, and its interval grows by five seconds each time", async () => {
  const server = await newServer({ clients });
  const { device_code } = await start(server);
  assert.is((await poll(server, device_code))[1], "authorization_pending");
  server.advance(4);
  assert.is((await poll(server, device_code))[1], "slow_down");
  server.advance(9);
  assert.is((await poll(server, device_code))[1], "slow_down", "the interval is ten seconds");
  server.advance(15);
  assert.is((await poll(server, device_code))[1], "authorization_pending");
});

test("section 3.5: access_denied, expired_token, and invalid_grant for an unknown code and another client's code", async () => {
  const server = await newServer({ clients });
  const denied = await start(server);
  assert.is((await decide(server, denied.user_code, "deny")).status, 200);
  assert.equal((await poll(server, denied.device_code)).slice(0, 2), [400, "access_denied"]);
  const late = await start(server);
  assert.equal((await poll(server, late.device_code, "box")).slice(0, 2), [400, "invalid_grant"]);
  server.advance(601);
  assert.equal((await poll(server, late.device_code)).slice(0, 2), [400, "expired_token"]);
  assert.equal((await poll(server, "trivet_dc_none")).slice(0, 2), [400, "invalid_grant"]);
  const cookie = await server.signIn();
  assert.is((await enterCode(server, cookie, late.user_code)).status, 400);
});

test("a poll without device_code gets invalid_request; a replay gets invalid_grant, revokes the tokens and is reported", async () => {
  const server = await newServer({ clients });
  const missing = await server.send("/oauth/token", { form: { grant_type: GRANT, client_id: "tv" } });
  const { error, error_description } = await missing.json();
  assert.equal([missing.status, error], [400, "invalid_request"]);
  assert.match(error_description, /\bdevice_code\b/);
  const { device_code, user_code } = await start(server);
  await decide(server, user_code);
  const { access_token } = (await poll(server, device_code))[2];
  const user = async () =>
    (await server.send("/api/user", { headers: { authorization: `Bearer ${access_token}` } })).status;
  assert.is(await user(), 403, "the token is valid and lacks the scope");
  assert.equal((await poll(server, device_code)).slice(0, 2), [400, "invalid_grant"]);
  assert.is(await user(), 401);
  assert.equal(server.events.slice(-2).map(({ type }) => type), ["code_replayed", "token_refused"]);
});

test("one of many concurrent polls redeems a device code, and the replays revoke its tokens", async () => {
  const server = await newServer({ clients });
  const { device_code, user_code } = await start(server);
  await decide(server, user_code);
  const answers = await Promise.all(Array.from({ length: 8 }, () => poll(server, device_code)));
  const [, , tokens] = answers.find(([status]) => status === 200)!;
  assert.is(answers.filter(([status]) => status === 200).length, 1);
  assert.ok(answers.every(([status, error]) => status === 200 || error === "invalid_grant"));
  const user = await server.send("/api/user", {
    headers: { authorization: `Bearer ${tokens.access_token}` },
  });
  assert.is(user.status, 401, "the replays revoked it");
});

test("the storage of device codes of public clients is limited per network", async () => {
  const server = await newServer({ clients, deviceCodeLifetime: 600 });
  const begin = (ip: string) =>
    server.service.fetch(
      new Request(ISSUER + "/oauth/device_authorization", {
        method: "POST",
        body: new URLSearchParams({ client_id: "tv" }),
      }),
      { ip },
    );
  let last: Response | undefined;
  let issued = 0;
  while (issued < 10_000 && (last = await begin("203.0.113.1")).status === 200) issued++;
  assert.equal([last!.status, (await last!.json()).error], [429, "temporarily_unavailable"]);
  assert.ok(Number(last!.headers.get("retry-after")) > 0);
  assert.is((await begin("203.0.113.2")).status, 200);
  server.advance(1300);
  assert.is((await begin("203.0.113.1")).status, 200);
});

test("the registration of a client is extended when a user connects its device", async () => {
  const server = await newServer();
  const grant_types = ["urn:ietf:params:oauth:grant-type:device_code"];
  const { client_id } = (await register(server, { token_endpoint_auth_method: "none", grant_types })).body;
  const { user_code } = await (await server.send("/oauth/device_authorization", { form: { client_id } }))
    .json();
  const cookie = await server.signIn();
  const expires = async () => (await server.store.get(["client", client_id]))!.expires!;
  const before = await expires();
  const transaction = transactionOf(await (await enterCode(server, cookie, user_code)).text());
  assert.is(await expires(), before);
  await server.send("/device", { form: { transaction, decision: "approve" }, headers: { cookie } });
  assert.ok(await expires() > before + 86_400_000);
});

test("a client without the grant gets no device code", async () => {
  const server = await newServer({ clients });
  const form = { client_id: "app", client_secret: "app secret:&%+" };
  const response = await server.send("/oauth/device_authorization", { form });
  assert.equal([response.status, (await response.json()).error], [400, "unauthorized_client"]);
});

test.run();
