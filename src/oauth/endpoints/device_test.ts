import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { losingRaces } from "../../store/test_losing_races.ts";
import { toClient } from "../clients/client.ts";
import { register } from "./test_registration.ts";
import { ISSUER, newServer, type TestServer, transactionOf } from "../test_server.ts";

const test = suite("oauth/device");
const GRANT = "urn:ietf:params:oauth:grant-type:device_code";
const clients = [
  toClient({ id: "tv", name: "Television", grant_types: [GRANT, "refresh_token"] }, 0),
  toClient({ id: "box", grant_types: [GRANT] }, 0),
  toClient({ id: "app", secret: "app secret:&%+", domain: "app.example" }, 0),
];

interface DeviceResponse {
  readonly device_code: string;
  readonly user_code: string;
  readonly verification_uri: string;
  readonly verification_uri_complete: string;
  readonly expires_in: number;
  readonly interval: number;
}

const start = async (server: TestServer, form: Record<string, string> = {}): Promise<DeviceResponse> =>
  await (await server.send("/oauth/device_authorization", {
    form: { client_id: "tv", scope: "read", ...form },
  })).json();

async function poll(
  server: TestServer,
  device_code: string,
  client_id = "tv",
): Promise<[number, string, Record<string, string>]> {
  const response = await server.send("/oauth/token", { form: { grant_type: GRANT, device_code, client_id } });
  const body = await response.json();
  return [response.status, body.error ?? body.token_type, body];
}

/** Submits the user code on the device page. */
const enterCode = (server: TestServer, cookie: string, user_code: string) =>
  server.send("/device", { form: { user_code }, headers: { cookie } });

async function decide(server: TestServer, user_code: string, decision = "approve"): Promise<Response> {
  const cookie = await server.signIn();
  const transaction = transactionOf(await (await enterCode(server, cookie, user_code)).text());
  return await server.send("/device", { form: { transaction, decision }, headers: { cookie } });
}

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

test("a concurrent poll does not undo the user's decision", async () => {
  for (let round = 0; round < 20; round++) {
    const server = await newServer({ clients });
    const { device_code, user_code } = await start(server);
    const [done, ...polls] = await Promise.all([
      decide(server, user_code),
      poll(server, device_code),
      poll(server, device_code),
    ]);
    assert.is(done.status, 200);
    server.advance(30);
    // A poll that comes after the decision has the tokens already.
    const outcomes = [...polls, await poll(server, device_code)].map(([status]) => status);
    assert.is(outcomes.filter((status) => status === 200).length, 1);
  }
});

test("a request without a session is redirected to the login and keeps the user code", async () => {
  const server = await newServer({ clients });
  const response = await server.send("/device?user_code=ABCD-EFGH");
  assert.equal([response.status, response.headers.get("location")], [
    302,
    "/login?redirect=%2Fdevice%3Fuser_code%3DABCD-EFGH",
  ]);
  const cookie = await server.signIn();
  const page = await (await server.send("/device?user_code=ABCD-%22%3E%3Cb%3E", { headers: { cookie } }))
    .text();
  assert.match(page, 'value="ABCD-&quot;&gt;&lt;b&gt;"');
});

test("only the session to which the page was shown can approve (as in CVE-2026-45337)", async () => {
  const server = await newServer({ clients });
  const { device_code, user_code } = await start(server);
  const [alice, mallory] = [await server.signIn(), await server.signIn()];
  const transaction = transactionOf(await (await enterCode(server, alice, user_code)).text());
  const stolen = await server.send("/device", {
    form: { transaction, decision: "approve" },
    headers: { cookie: mallory },
  });
  assert.is(stolen.status, 400);
  assert.is((await poll(server, device_code))[1], "authorization_pending");
  const noCode = await server.send("/device", {
    form: { user_code, decision: "approve" },
    headers: { cookie: alice },
  });
  assert.ok(transactionOf(await noCode.text()), "a user code alone gets the consent page");
  const crossSite = await server.send("/device", {
    form: { transaction, decision: "approve" },
    headers: { cookie: alice, "sec-fetch-site": "cross-site" },
  });
  assert.is(crossSite.status, 403);
});

test("an invalid, unauthenticated or repeated decision changes nothing", async () => {
  const server = await newServer({ clients });
  const { device_code, user_code } = await start(server);
  const cookie = await server.signIn();
  const transaction = transactionOf(await (await enterCode(server, cookie, user_code)).text());
  const post = async (
    form: Record<string, string> | string,
    headers: Record<string, string> = { cookie },
  ) => {
    const response = await server.send("/device", { form, headers });
    return [response.status, response.headers.get("location")];
  };
  assert.equal((await post({ transaction, decision: "maybe" }))[0], 400);
  assert.equal((await post(`transaction=${transaction}&decision=approve&decision=deny`))[0], 400);
  assert.equal(await post({ transaction, decision: "approve" }, {}), [302, "/login?redirect=%2Fdevice"]);
  assert.equal((await post({ transaction: "x".repeat(43), decision: "approve" }))[0], 400);
  assert.is((await poll(server, device_code))[1], "authorization_pending");
  assert.is((await post({ transaction, decision: "deny" }))[0], 200);
  assert.equal((await post({ transaction, decision: "approve" }))[0], 400);
  server.advance(5);
  assert.is((await poll(server, device_code))[1], "access_denied");
});

test("an authorization transaction is refused at /device, and a device transaction at /oauth/authorize", async () => {
  const server = await newServer({ clients });
  const cookie = await server.signIn();
  const page = await server.send(server.authorizePath(), { headers: { cookie } });
  const consent = transactionOf(await page.text());
  const atDevice = await server.send("/device", {
    form: { transaction: consent, decision: "approve" },
    headers: { cookie },
  });
  assert.is(atDevice.status, 400);
  const device = transactionOf(
    await (await enterCode(server, cookie, (await start(server)).user_code)).text(),
  );
  const atConsent = await server.send("/oauth/authorize", {
    form: { transaction: device, decision: "approve" },
    headers: { cookie },
  });
  assert.equal([atConsent.status, atConsent.headers.get("location")], [400, null]);
});

test("a user code that was decided or has expired is refused", async () => {
  const server = await newServer({ clients });
  const first = await start(server);
  const late = await server.signIn();
  const open = transactionOf(await (await enterCode(server, late, first.user_code)).text());
  await decide(server, first.user_code);
  assert.is((await enterCode(server, late, first.user_code)).status, 400);
  const second = await server.send("/device", {
    form: { transaction: open, decision: "deny" },
    headers: { cookie: late },
  });
  assert.is(second.status, 400, "the first decision stands");
  assert.is((await poll(server, first.device_code))[0], 200);
  const third = await start(server);
  const waiting = transactionOf(await (await enterCode(server, late, third.user_code)).text());
  server.advance(599);
  assert.is((await enterCode(server, await server.signIn(), third.user_code)).status, 200);
  server.advance(2);
  const cookie = await server.signIn();
  assert.is((await enterCode(server, cookie, third.user_code)).status, 400);
  assert.is(
    (await server.send("/device", {
      form: { transaction: waiting, decision: "approve" },
      headers: { cookie: late },
    })).status,
    400,
  );
});

test("a right user code is not counted, and does not reset the count of wrong ones", async () => {
  const server = await newServer({ clients });
  const cookie = await server.signIn();
  for (let i = 0; i < 20; i++) {
    assert.is((await enterCode(server, cookie, (await start(server)).user_code)).status, 200);
  }
  const statuses: number[] = [];
  for (let round = 0; round < 3; round++) {
    for (let i = 0; i < 9; i++) statuses.push((await enterCode(server, cookie, "BBBB-BBBB")).status);
    await enterCode(server, cookie, (await start(server)).user_code);
  }
  assert.is(statuses.filter((status) => status === 400).length, 10);
  assert.is(statuses.at(-1), 429);
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

test("a user code in use is not issued to another device", async () => {
  const inner = memoryStore();
  let refuse = 0;
  const store: Store = {
    guarantees: inner.guarantees,
    get: (key) => inner.get(key),
    list: (prefix, options) => inner.list(prefix, options),
    commit: (commit) => commit.check && refuse-- > 0 ? Promise.resolve(false) : inner.commit(commit),
    watch: (prefix) => inner.watch(prefix),
    sweep: () => inner.sweep(),
    close: () => inner.close(),
  };
  const server = await newServer({ clients, store });
  refuse = 1;
  const { user_code, device_code } = await start(server);
  assert.is((await enterCode(server, await server.signIn(), user_code)).status, 200);
  assert.is((await poll(server, device_code))[1], "authorization_pending");
  refuse = 5;
  const full = await server.send("/oauth/device_authorization", { form: { client_id: "tv" } });
  assert.equal([full.status, (await full.json()).error], [503, "temporarily_unavailable"]);
});

test("section 6.1: all letters of user codes are equally frequent", async () => {
  const server = await newServer({ clients });
  const counts = new Map<string, number>();
  for (let i = 0; i < 1000; i++) {
    for (const letter of (await start(server)).user_code.replace("-", "")) {
      counts.set(letter, (counts.get(letter) ?? 0) + 1);
    }
  }
  assert.is([...counts.keys()].sort().join(""), "BCDFGHJKLMNPQRSTVWXZ");
  // 400 are expected of each: six standard deviations of 19.5.
  for (const [letter, count] of counts) assert.ok(Math.abs(count - 400) < 117, `${letter}: ${count}`);
});

test("section 5.1: guessing of user codes is throttled", async () => {
  const server = await newServer({ clients });
  const { user_code } = await start(server);
  const cookie = await server.signIn();
  let refused: Response | undefined;
  for (let i = 0; i < 20 && refused?.status !== 429; i++) {
    refused = await enterCode(server, cookie, "BBBB-BBBB");
  }
  assert.is(refused!.status, 429);
  assert.ok(Number(refused!.headers.get("retry-after")) >= 1);
  assert.is((await enterCode(server, cookie, user_code)).status, 429, "a right code waits too");
  server.advance(300);
  assert.is((await enterCode(server, cookie, user_code)).status, 200);
});

test("a client without the grant gets no device code", async () => {
  const server = await newServer({ clients });
  const form = { client_id: "app", client_secret: "app secret:&%+" };
  const response = await server.send("/oauth/device_authorization", { form });
  assert.equal([response.status, (await response.json()).error], [400, "unauthorized_client"]);
});

for (const decision of ["approve", "deny"]) {
  test(`a user code ends with the decision of the user: ${decision}`, async () => {
    const server = await newServer({ clients });
    const { user_code } = await start(server);
    assert.is((await server.store.list(["user_code"])).length, 1);
    assert.is((await decide(server, user_code, decision)).status, 200);
    assert.equal(await server.store.list(["user_code"]), []);
  });
}

test.run();
