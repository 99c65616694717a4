/**
 * A consent page that is open while the user signs in again in another tab.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { clients, enterCode, poll, start } from "../endpoints/test_device.ts";
import { newProvider } from "../openid/test_provider.ts";
import { newServer, type TestServer, transactionOf } from "../test_server.ts";
import { addUser } from "../users/user.ts";
import { endUserSessions } from "../users/user_sessions.ts";

const test = suite("oauth/consent: a new login while the page is open");

const cookieOf = (response: Response): string => response.headers.get("set-cookie")!.split(";")[0]!;

async function signInAgain(server: TestServer, cookie: string, username = "alice"): Promise<string> {
  const form = { username, password: "wonderland" };
  return cookieOf(await server.send("/login", { form, headers: { cookie } }));
}

async function openPage(server: TestServer, parameters: Record<string, string> = {}) {
  const cookie = await server.signIn();
  const page = await server.send(server.authorizePath(parameters), { headers: { cookie } });
  return { cookie, transaction: transactionOf(await page.text()) };
}

const approve = (server: TestServer, transaction: string, cookie: string): Promise<Response> =>
  server.send("/oauth/authorize", { form: { transaction, decision: "approve" }, headers: { cookie } });

test("the same user can answer it, once, with the code in the new session", async () => {
  const server = await newProvider();
  const { cookie, transaction } = await openPage(server, { scope: "openid" });
  const next = await signInAgain(server, await signInAgain(server, cookie));
  assert.is((await approve(server, transaction, cookie)).status, 400, "the old session has ended");
  const response = await approve(server, transaction, next);
  assert.is(response.status, 302);
  const code = new URL(response.headers.get("location")!).searchParams.get("code")!;
  assert.is((await approve(server, transaction, next)).status, 400);
  const tokens = await (await server.token({
    grant_type: "authorization_code",
    code,
    redirect_uri: "https://app.example/cb",
  })).json();
  // The hint names the present session: the user is signed out without a question.
  const logout = await server.send(`/oauth/logout?id_token_hint=${tokens.id_token}`, {
    headers: { cookie: next },
  });
  assert.is(logout.headers.getSetCookie().length > 0, true);
});

test("the same user can answer the page of a device", async () => {
  const server = await newServer({ clients });
  const { device_code, user_code } = await start(server);
  const cookie = await server.signIn();
  const transaction = transactionOf(await (await enterCode(server, cookie, user_code)).text());
  const form = { transaction, decision: "approve" };
  const headers = { cookie: await signInAgain(server, cookie) };
  assert.is((await server.send("/device", { form, headers })).status, 200);
  assert.is((await poll(server, device_code))[0], 200);
});

test("another user cannot, nor the same one after it", async () => {
  const server = await newServer();
  await addUser(server.store, { username: "bob", password: "wonderland", name: "Bob", email: "" }, 1000);
  const { cookie, transaction } = await openPage(server);
  const bob = await signInAgain(server, cookie, "bob");
  assert.is((await approve(server, transaction, bob)).status, 400);
  assert.is((await approve(server, transaction, await signInAgain(server, bob))).status, 400);
});

test("no one can after the session was ended: by a logout, or with all sessions", async () => {
  const server = await newServer();
  const out = await openPage(server);
  await server.send("/logout", { method: "POST", headers: { cookie: out.cookie } });
  assert.is((await approve(server, out.transaction, await signInAgain(server, out.cookie))).status, 400);
  const all = await openPage(server);
  const [alice] = await server.store.list<{ id: string }>(["user"]);
  await endUserSessions(server.store, alice!.value.id);
  assert.is((await approve(server, all.transaction, await signInAgain(server, all.cookie))).status, 400);
});

test("of two logins at the same time one continues the session", async () => {
  const server = await newServer();
  const { cookie, transaction } = await openPage(server);
  const cookies = await Promise.all([signInAgain(server, cookie), signInAgain(server, cookie)]);
  const statuses = [];
  for (const each of cookies) statuses.push((await approve(server, transaction, each)).status);
  assert.equal(statuses.toSorted(), [302, 400]);
});

test.run();
