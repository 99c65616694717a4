import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { interruptAfter, loseNextResponse } from "../../store/test_meanwhile.ts";
import { newServer, transactionOf } from "../test_server.ts";
import { updateUser } from "../users/user_changes.ts";
import { clients, decide, enterCode, poll, start } from "./test_device.ts";

const test = suite("oauth/device: the page");

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

for (const decision of ["approve", "deny"]) {
  test(`an answer is carried out, and in the events, when only the response of its commit is lost: ${decision}`, async () => {
    const server = await newServer({ clients });
    const { device_code, user_code } = await start(server);
    const lost = loseNextResponse(server.store, "device_code");
    const answer = await decide(server, user_code, decision);
    assert.equal([lost.isDone, answer.status], [true, 200]);
    assert.is((await poll(server, device_code))[0], decision === "approve" ? 200 : 400);
    const type = decision === "approve" ? "consent_given" : "consent_denied";
    assert.is(server.events.filter((event) => event.type === type).length, 1);
  });
}

test("an answer whose commit failed can be given again", async () => {
  const server = await newServer({ clients });
  const { device_code, user_code } = await start(server);
  const headers = { cookie: await server.signIn() };
  const transaction = transactionOf(await (await enterCode(server, headers.cookie, user_code)).text());
  const form = { transaction, decision: "approve" };
  const restore = interruptAfter(server.store, 0);
  assert.is((await server.send("/device", { form, headers })).status, 503);
  restore();
  assert.is((await server.send("/device", { form, headers })).status, 200);
  assert.is((await poll(server, device_code))[0], 200);
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

for (const decision of ["approve", "deny"]) {
  test(`a user code ends with the decision of the user: ${decision}`, async () => {
    const server = await newServer({ clients });
    const { user_code } = await start(server);
    assert.is((await server.store.list(["user_code"])).length, 1);
    assert.is((await decide(server, user_code, decision)).status, 200);
    assert.equal(await server.store.list(["user_code"]), []);
  });
}

test("a device gets no scope that the page did not show, also when the role of the user was raised since", async () => {
  const server = await newServer({
    clients,
    scopes: { read: "Read", publish: { description: "Publish", role: "author" } },
  });
  const { device_code, user_code } = await start(server, { scope: "read publish" });
  const cookie = await server.signIn();
  const page = await (await enterCode(server, cookie, user_code)).text();
  assert.not.match(page, "Publish");
  await updateUser(server.store, "alice", { role: "author" });
  const form = { transaction: transactionOf(page), decision: "approve" };
  assert.is((await server.send("/device", { form, headers: { cookie } })).status, 200);
  server.advance(30);
  assert.is((await poll(server, device_code))[2].scope, "read");
});

test.run();
