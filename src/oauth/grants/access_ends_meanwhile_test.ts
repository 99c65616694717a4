import { suite } from "uvu";
import * as assert from "uvu/assert";
import { afterNextRead, beforeNextCommit } from "../../store/test_meanwhile.ts";
import { get, post } from "../account/test_account.ts";
import { toClient } from "../clients/client.ts";
import type { Grant } from "../records/grant_record.ts";
import { CLIENTS, newServer, type TestServer, transactionOf } from "../test_server.ts";
import { endUserGrant, endUserGrants } from "./end_grants.ts";
import { aliceOf, askDevice, codeOf, countsOf, endAll, poll, redeem, tv } from "./test_ended_grants.ts";

const test = suite("oauth/grants/access_ends_meanwhile");

/** Answers `begin`, and runs `end` in between, after the first read of a record of this kind. */
async function endAfterRead(
  server: TestServer,
  kind: string,
  end: () => Promise<unknown>,
  begin: () => Promise<Response>,
): Promise<[status: number, location: string | null]> {
  const ended = afterNextRead(server.store, kind, async () => {
    server.advance(1);
    await end();
    server.advance(1);
  });
  const { status, headers } = await begin();
  assert.ok(ended.isDone, kind);
  return [status, headers.get("location")];
}

test("attack: a code that is redeemed while the access is taken back gives no grant", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const code = await codeOf(server);
  const ended = beforeNextCommit(
    server.store,
    async () => assert.is(await endUserGrants(server.store, user, "app"), true),
  );
  assert.equal(await redeem(server, code), [400, "invalid_grant"]);
  assert.ok(ended.isDone);
  assert.equal([await server.store.list(["grant"]), await server.store.list(["user_grant"])], [[], []]);
});

test("attack: a request with remembered consent gives no code when all access ends during it", async () => {
  for (const kind of ["session", "consent"]) {
    const server = await newServer();
    const user = await aliceOf(server);
    await codeOf(server);
    server.advance(3600);
    const cookie = await server.signIn();
    const ask = () => get(server, server.authorizePath(), cookie);
    const [, location] = await endAfterRead(server, kind, () => endAll(server, user), ask);
    assert.is(location, null, kind);
    assert.equal(await countsOf(server), [0, 0, 0], kind);
  }
});

test("attack: an approval gives no code and is not remembered when all access ends during it", async () => {
  for (const kind of ["session", "transaction", "consent"]) {
    const server = await newServer();
    const user = await aliceOf(server);
    const cookie = await server.signIn();
    const page = await get(server, server.authorizePath(), cookie);
    const form = { transaction: transactionOf(await page.text()), decision: "approve" };
    const approve = () => post(server, "/oauth/authorize", cookie, form);
    const answer = await endAfterRead(server, kind, () => endAll(server, user), approve);
    assert.equal(answer, [400, null], kind);
    assert.equal(await countsOf(server), [0, 0, 0], kind);
  }
});

test("attack: an approval gives no code and is not remembered when the user takes the access back during it", async () => {
  for (const kind of ["transaction", "consent"]) {
    const server = await newServer();
    const user = await aliceOf(server);
    await server.tokens();
    const cookie = await server.signIn();
    const page = await get(server, server.authorizePath({ scope: "write" }), cookie);
    const form = { transaction: transactionOf(await page.text()), decision: "approve" };
    const approve = () => post(server, "/oauth/authorize", cookie, form);
    const answer = await endAfterRead(server, kind, () => endUserGrants(server.store, user), approve);
    assert.equal(answer, [400, null], kind);
    const again = await get(server, server.authorizePath({ scope: "write" }), cookie);
    assert.is(again.status, 200, "the page asks again");
  }
});

test("attack: a device is not approved when all access ends during the approval", async () => {
  for (const kind of ["session", "transaction", "device_code"]) {
    const server = await newServer({ clients: [tv] });
    const user = await aliceOf(server);
    const { device_code, user_code } = await askDevice(server);
    const cookie = await server.signIn();
    const page = await post(server, "/device", cookie, { user_code });
    const form = { transaction: transactionOf(await page.text()), decision: "approve" };
    const approve = () => post(server, "/device", cookie, form);
    assert.is((await endAfterRead(server, kind, () => endAll(server, user), approve))[0], 400, kind);
    server.advance(10);
    assert.equal(await poll(server, device_code), [400, "authorization_pending"], kind);
  }
});

test("attack: a code for consent that the user takes back at the same time is refused", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const cookie = await server.signIn();
  const ask = () => get(server, server.authorizePath(), cookie);
  const endOne = async () => {
    const [grant] = await server.store.list<Grant>(["grant"]);
    return await endUserGrant(server.store, user, String(grant!.key[1]));
  };
  for (const end of [endOne, () => endUserGrants(server.store, user, "app")]) {
    await server.tokens();
    const [, location] = await endAfterRead(server, "consent", end, ask);
    assert.equal(await redeem(server, new URL(location!).searchParams.get("code")), [400, "invalid_grant"]);

    // A request after each commit.
    await server.tokens();
    const answers: Response[] = [];
    const commit = server.store.commit.bind(server.store);
    let isAsking = false;
    Object.assign(server.store, {
      async commit(...call: Parameters<typeof commit>) {
        const isDone = await commit(...call);
        if (isAsking) return isDone;
        isAsking = true;
        server.advance(1);
        answers.push(await ask());
        server.advance(1);
        isAsking = false;
        return isDone;
      },
    });
    assert.is(await end(), true);
    Object.assign(server.store, { commit });
    assert.ok(answers.length > 1);
    for (const { status, headers } of answers) {
      if (status === 200) continue;
      const code = new URL(headers.get("location")!).searchParams.get("code");
      assert.equal(await redeem(server, code), [400, "invalid_grant"]);
    }
  }
});

test("a use of the session at the same time keeps no authorization from going on", async () => {
  const server = await newServer({ clients: [...CLIENTS.map((client) => toClient(client, 0)), tv] });
  await codeOf(server);
  const cookie = await server.signIn();
  const useSession = async () => {
    server.advance(300);
    assert.is((await get(server, "/account", cookie)).status, 200);
  };
  const during = (begin: () => Promise<Response>) => endAfterRead(server, "session", useSession, begin);
  const [status, location] = await during(() => get(server, server.authorizePath(), cookie));
  assert.is(status, 302);
  assert.is((await redeem(server, new URL(location!).searchParams.get("code")))[0], 200);
  const page = await get(server, server.authorizePath({ scope: "write" }), cookie);
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  assert.is((await during(() => post(server, "/oauth/authorize", cookie, form)))[0], 302);
  const { device_code, user_code } = await askDevice(server);
  const asked = await post(server, "/device", cookie, { user_code });
  const approval = { transaction: transactionOf(await asked.text()), decision: "approve" };
  assert.is((await during(() => post(server, "/device", cookie, approval)))[0], 200);
  assert.is((await poll(server, device_code))[0], 200);
  // The request itself notes that the session was used.
  server.advance(300);
  assert.is((await get(server, server.authorizePath(), cookie)).status, 302);
});

test.run();
