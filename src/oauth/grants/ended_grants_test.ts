import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { interruptAfter } from "../../store/test_meanwhile.ts";
import { get, post } from "../account/test_account.ts";
import { toClient } from "../clients/client.ts";
import { newProvider } from "../openid/test_provider.ts";
import {
  type EndedGrants,
  endedGrantsKey,
  type Grant,
  grantKey,
  userGrantKey,
} from "../records/grant_record.ts";
import { APP_URI, CLIENTS, newServer, type TestServer, transactionOf } from "../test_server.ts";
import { listUserGrants } from "../users/user_grants.ts";
import { endUserGrant, endUserGrants, markGrantsEnded } from "./end_grants.ts";
import { isGrantEnded } from "./ended_grants.ts";
import {
  aliceOf,
  askDevice,
  codeOf,
  countsOf,
  EXCHANGE,
  poll,
  redeem,
  tv,
  WEB,
  webCode,
} from "./test_ended_grants.ts";

const test = suite("oauth/grants/ended_grants");

/** An approved device code. */
async function approveDevice(server: TestServer): Promise<string> {
  const device = await askDevice(server);
  const headers = { cookie: await server.signIn() };
  const page = await server.send("/device", { form: { user_code: device.user_code }, headers });
  const transaction = transactionOf(await page.text());
  await server.send("/device", { form: { transaction, decision: "approve" }, headers });
  return device.device_code;
}

test("attack: a code that the user approved before taking the access back is refused", async () => {
  const server = await newServer();
  const [code, other] = [await codeOf(server), await webCode(server)];
  const cookie = await server.signIn();
  const taken = await post(server, "/account/applications", cookie, { client_id: "app" });
  assert.is(taken.status, 303);
  assert.equal(await redeem(server, code), [400, "invalid_grant"]);
  assert.equal(await server.store.list(["grant"]), []);
  assert.not.ok(server.events.some(({ type }) => type === "code_replayed"));
  // The codes of other clients stay valid, and so does what is allowed later.
  assert.is((await redeem(server, other, WEB))[0], 200);
  assert.is((await get(server, server.authorizePath(), cookie)).status, 200, "the consent page");
  assert.is((await redeem(server, await codeOf(server)))[0], 200);
});

test("attack: taking the access back is repeated after an interruption, and then refuses the code", async () => {
  for (let commits = 0, isDone = false; !isDone; commits++) {
    const server = await newServer();
    const user = await aliceOf(server);
    const code = await codeOf(server);
    const restore = interruptAfter(server.store, commits);
    const ended = await endUserGrants(server.store, user, "app").catch(() => undefined);
    isDone = !restore();
    if (ended === undefined) await endUserGrants(server.store, user, "app");
    assert.equal(await redeem(server, code), [400, "invalid_grant"], `${commits} commits`);
    assert.equal(await server.store.list(["consent", user]), [], `${commits} commits`);
    assert.ok(commits < 9);
  }
});

test("attack: a code is refused after one grant of its client, or every grant, was taken back", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const { refresh_token } = await server.tokens();
  const code = await codeOf(server);
  assert.ok(await endUserGrant(server.store, user, refresh_token!.slice("trivet_rt_".length).split(".")[0]!));
  assert.equal(await redeem(server, code), [400, "invalid_grant"]);
  const codes = [await codeOf(server), await webCode(server)];
  assert.is(await endUserGrants(server.store, user), true);
  assert.equal(await redeem(server, codes[0]!), [400, "invalid_grant"]);
  assert.equal(await redeem(server, codes[1]!, WEB), [400, "invalid_grant"]);
  assert.equal(await server.store.list(["consent"]), []);
});

test("attack: an approved device code is refused after the access was taken back", async () => {
  const server = await newServer({ clients: [tv] });
  const user = await aliceOf(server);
  const device_code = await approveDevice(server);
  assert.is((await poll(server, await approveDevice(server)))[0], 200);
  assert.is(await endUserGrants(server.store, user, "tv"), true);
  assert.equal(await poll(server, device_code), [400, "invalid_grant"]);
  assert.is((await poll(server, await approveDevice(server)))[0], 200);
});

test("attack: a device that was approved and has not polled yet is listed, and can be taken back", async () => {
  const server = await newServer({ clients: [tv] });
  const user = await aliceOf(server);
  const listed = async (cookie: string) =>
    (await (await get(server, "/account/applications", cookie)).text()).includes(
      'name="client_id" value="tv"',
    );
  const device_code = await approveDevice(server);
  const cookie = await server.signIn();
  assert.ok(await listed(cookie));
  assert.is((await listUserGrants(server.store, user)).length, 1);
  assert.is((await post(server, "/account/applications", cookie, { client_id: "tv" })).status, 303);
  assert.not.ok(await listed(cookie));
  assert.equal(await poll(server, device_code), [400, "invalid_grant"]);
  assert.equal(await countsOf(server), [0, 0, 0]);

  // By an operator, who names the grant.
  const other = await approveDevice(server);
  const [{ grant } = { grant: "" }] = await listUserGrants(server.store, user);
  assert.is(await endUserGrant(server.store, user, grant), true);
  assert.equal(await poll(server, other), [400, "invalid_grant"]);

  // The grant that starts takes its place; without a poll it ends with the device code.
  assert.is((await poll(server, await approveDevice(server)))[0], 200);
  assert.is((await listUserGrants(server.store, user)).length, 1);
  assert.is(await endUserGrants(server.store, user, "tv"), true);
  await approveDevice(server);
  server.advance(601);
  assert.equal(await countsOf(server), [0, 0, 0]);
  assert.is(await endUserGrants(server.store, user, "tv"), false);
});

test("attack: a code for authorization details, for which no consent is remembered, can be taken back", async () => {
  const payment = { check: () => undefined, describe: () => "Pay" };
  const server = await newServer({ authorizationDetailTypes: { payment } });
  const user = await aliceOf(server);
  const authorization_details = JSON.stringify([{ type: "payment", amount: 5 }]);
  const code = await codeOf(server, { authorization_details });
  assert.equal(await countsOf(server), [1, 0, 1]);
  const cookie = await server.signIn();
  assert.is((await post(server, "/account/applications", cookie, { client_id: "app" })).status, 303);
  assert.equal(await redeem(server, code), [400, "invalid_grant"]);
  const next = await codeOf(server, { authorization_details });
  assert.is((await redeem(server, next))[0], 200);
  assert.is((await listUserGrants(server.store, user)).length, 1);
  // With a remembered consent nothing more is stored with the code.
  assert.is(await endUserGrants(server.store, user, "app"), true);
  await codeOf(server);
  assert.equal((await countsOf(server)).slice(1), [1, 0]);
});

test("attack: an ID token of before gives no identity assertion", async () => {
  const audience = "https://b.example";
  const server = await newProvider({ identityAssertions: [{ audience }] }, {}, [{
    id: "agent",
    secret: "secret of agent",
    redirect_uris: [APP_URI],
    grant_types: ["authorization_code", "refresh_token", EXCHANGE],
  }]);
  const exchange = async (subject_token: string) =>
    (await server.token({
      client_id: "agent",
      client_secret: "secret of agent",
      grant_type: EXCHANGE,
      requested_token_type: "urn:ietf:params:oauth:token-type:id-jag",
      audience,
      subject_token,
      subject_token_type: "urn:ietf:params:oauth:token-type:id_token",
    })).status;
  const { tokens } = await server.signInWith({ client_id: "agent" });
  assert.is(await exchange(tokens.id_token!), 200);
  assert.is(await endUserGrants(server.store, await aliceOf(server), "agent"), true);
  assert.is(await exchange(tokens.id_token!), 400);
  server.advance(2);
  const later = await server.signInWith({ client_id: "agent" });
  assert.is(await exchange(later.tokens.id_token!), 200);
});

test("more than 1000 grants are taken back, and those of other clients stay", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const grant = (client_id: string): Grant => {
    const created = Date.now();
    return { client_id, user, scope: "read", created, until: created + 1e9 };
  };
  for (let i = 0; i < 1100; i++) {
    const id = `grant${i}`;
    await server.store.commit({
      set: [
        { key: grantKey(id), value: grant(i % 11 === 0 ? "web" : "app") },
        { key: userGrantKey(user, id), value: true },
      ],
    });
  }
  assert.is(await endUserGrants(server.store, user, "app"), true);
  const left = await server.store.list<Grant>(["grant"], { limit: 5000 });
  assert.equal([left.length, new Set(left.map(({ value }) => value.client_id))], [100, new Set(["web"])]);
  assert.is((await server.store.list(["user_grant"], { limit: 5000 })).length, 100);
  assert.is(await endUserGrants(server.store, user, "app"), false);
  assert.is(await endUserGrants(server.store, user), true);
  assert.equal(await server.store.list(["grant"]), []);
});

test("a client without access leaves no record", async () => {
  const server = await newServer({ clients: CLIENTS.map((client) => toClient(client, 0)) });
  const user = await aliceOf(server);
  assert.is(await endUserGrants(server.store, user, "unknown"), false);
  assert.is(await server.store.get(endedGrantsKey(user)), undefined);
});

test("of many clients the record has the last ones, and the time of the others counts for all", async () => {
  let time = 1000;
  const now = () => time;
  const store = Object.assign(memoryStore({ now }), { now });
  for (let i = 0; i < 52; i++, time++) await markGrantsEnded(store, "user_1", `client${i}`);
  const { value } = (await store.get<EndedGrants>(endedGrantsKey("user_1")))!;
  assert.equal([value.clients.length, value.before], [50, 1001]);
  assert.equal([isGrantEnded(value, "client51", 1051), isGrantEnded(value, "client51", 1052)], [
    true,
    false,
  ]);
  assert.equal([isGrantEnded(value, "client0", 1001), isGrantEnded(value, "other", 1002)], [true, false]);
  assert.is(isGrantEnded(value, "other"), true, "an unknown time");
  await markGrantsEnded(store, "user_1");
  assert.equal((await store.get<EndedGrants>(endedGrantsKey("user_1")))!.value, {
    before: 1052,
    clients: [],
  });
});

test.run();
