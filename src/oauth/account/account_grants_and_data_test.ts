/**
 * The account pages of sessions and applications, the copy of a user's data, and deletion.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Store } from "../../store/store.ts";
import { type ApprovalMemory, approvalMemoryKey } from "../approvals/approval.ts";
import { toClient } from "../clients/client.ts";
import { setTotp } from "../factors/change_factors.ts";
import { providerTokensKey } from "../records/provider_record.ts";
import { emailVerificationKey, passwordResetKey, verifiedEmailKey } from "../records/user_record.ts";
import { APP_URI, CLIENTS, newServer } from "../test_server.ts";
import { addUser } from "../users/user.ts";
import { lockUser, unlockUser, updateUser } from "../users/user_changes.ts";
import { cookieOf, get, locationOf, post, signIn } from "./test_account.ts";

const test = suite("oauth/account/account_grants_and_data");

const ALLOWED: ApprovalMemory = { tool: "send_mail", arguments: [{ name: "to", value: "bob" }], since: 5 };

/** Every record of the store, as text. */
async function dump(store: Store): Promise<string> {
  return JSON.stringify(await store.list([], { limit: 10_000 }));
}

test("sessions are listed, this one is marked, and one or all others are ended", async () => {
  const server = await newServer();
  const agent = "Mozilla/5.0 (X11; Linux x86_64; rv:140.0) Gecko/20100101 Firefox/140.0";
  const open = async (ip: string) =>
    cookieOf(
      await server.service.fetch(
        new Request("https://as.example/login", {
          method: "POST",
          headers: { "content-type": "application/x-www-form-urlencoded", "user-agent": agent },
          body: new URLSearchParams({ username: "alice", password: "wonderland" }),
        }),
        { ip },
      ),
    );
  const [cookie, second, third] = [await open("192.0.2.1"), await open("192.0.2.2"), await open("192.0.2.3")];
  const page = await (await get(server, "/account/sessions", cookie)).text();
  assert.is(page.match(/Firefox on Linux<\/strong>/g)?.length, 3);
  assert.is(page.match(/class="badge"/g)?.length, 1);
  for (const ip of ["192.0.2.1", "192.0.2.2", "192.0.2.3"]) assert.match(page, ip);
  const ids = [...page.matchAll(/name="session" value="([^"]+)"/g)].map(([, id]) => id!);
  assert.is(ids.length, 2);
  const ended = await post(server, "/account/sessions", cookie, { session: ids[0]! });
  assert.equal(locationOf(ended), [303, "/account/sessions?done=session"]);
  const statuses = async () =>
    (await Promise.all([second, third].map((each) => get(server, "/account", each)))).map(({ status }) =>
      status
    ).sort();
  assert.equal(await statuses(), [200, 302]);
  const others = await post(server, "/account/sessions", cookie, { end: "others" });
  assert.equal(locationOf(others), [303, "/account/sessions?done=sessions"]);
  assert.equal(await statuses(), [302, 302]);
  assert.is((await get(server, "/account", cookie)).status, 200);
  assert.is(server.events.filter(({ type }) => type === "session_ended").length, 2);
});

test("applications are listed in the words of their scopes, and what is taken back ends at once", async () => {
  const server = await newServer();
  const tokens = await server.tokens({ scope: "read profile" });
  await server.tokens({ scope: "write" });
  const cookie = await server.signIn();
  const page = await (await get(server, "/account/applications", cookie)).text();
  assert.is(page.match(/The App<\/h2>/g)?.length, 1);
  for (const words of ["Read your data", "See your name", "Change your data"]) assert.match(page, words);
  const taken = await post(server, "/account/applications", cookie, { client_id: "app" });
  assert.equal(locationOf(taken), [303, "/account/applications?done=application"]);
  const user = () =>
    server.send("/api/user", { headers: { authorization: `Bearer ${tokens["access_token"]}` } });
  assert.is((await user()).status, 401);
  const refreshed = await server.token({
    grant_type: "refresh_token",
    refresh_token: tokens["refresh_token"],
  });
  assert.is((await refreshed.json()).error, "invalid_grant");
  // The consent is forgotten, too.
  const asked = await get(server, server.authorizePath({ scope: "read" }), cookie);
  assert.is(asked.status, 200);
  assert.not.match(await (await get(server, "/account/applications", cookie)).text(), "The App");
  assert.equal(
    server.events.filter(({ type }) => type === "grant_revoked").map((event) =>
      "client" in event && event.client
    ),
    ["app"],
  );
  assert.is((await post(server, "/account/applications", cookie, { client_id: "app" })).status, 404);
});

test("an application whose tokens have ended is listed while its consent is remembered", async () => {
  const server = await newServer();
  await server.tokens();
  server.advance(8 * 86_400);
  const cookie = await server.signIn();
  const page = await (await get(server, "/account/applications", cookie)).text();
  assert.match(page, "The App</h2>");
  assert.match(page, "gets it without asking you");
  assert.is((await post(server, "/account/applications", cookie, { client_id: "app" })).status, 303);
  assert.not.match(await (await get(server, "/account/applications", cookie)).text(), "The App</h2>");
});

test("the names of applications are escaped, and those of their own in quotes", async () => {
  const server = await newServer({
    clients: [
      ...CLIENTS.map((client) => toClient(client, 0)),
      {
        ...toClient({ id: "self", secret: "s", redirect_uris: [APP_URI], name: "<img src=x>" }, 0),
        source: "registration" as const,
      },
    ],
  });
  const code = (await server.authorize({ client_id: "self" })).get("code")!;
  const form = { grant_type: "authorization_code", code, redirect_uri: APP_URI };
  assert.is((await server.token({ ...form, client_id: "self", client_secret: "s" })).status, 200);
  const page = await (await get(server, "/account/applications", await server.signIn())).text();
  assert.match(page, "“&lt;img src=x&gt;”");
  assert.not.match(page, "<img src=x>");
});

test("the export has what is stored about the user, and no secret", async () => {
  const server = await newServer();
  await server.tokens({ scope: "read profile" });
  const cookie = await server.signIn();
  const user = (await server.store.list<{ id: string; password: string }>(["user"]))[0]!.value;
  await setTotp(server.store, user.id, { sealed: "sealed-secret", created: 5, step: 1 });
  await server.store.commit({ set: [{ key: approvalMemoryKey(user.id, "digest"), value: ALLOWED }] });
  const response = await post(server, "/account/export", cookie, {});
  assert.is(response.status, 200);
  assert.match(
    response.headers.get("content-disposition")!,
    /^attachment; filename="account-\d{4}-\d\d-\d\d\.json"$/,
  );
  const text = await response.text();
  const data = JSON.parse(text);
  assert.equal(
    [data.issuer, data.profile.username, data.profile.email, data.sessions.length],
    ["https://as.example", "alice", "alice@example.com", 2],
  );
  assert.equal(data.applications.map(({ client_id, scope }: Record<string, string>) => [client_id, scope]), [
    ["app", "read profile"],
  ]);
  assert.equal(data.factors, {
    authenticator_app: { created: new Date(5).toISOString() },
    passkeys: [],
    recovery_codes_left: 0,
  });
  assert.equal(data.allowed_calls, [{ ...ALLOWED, since: new Date(5).toISOString() }]);
  const digests = (await server.store.list(["session"])).map(({ key }) => String(key[1]));
  for (const secret of [user.password, "sealed-secret", cookie.split("=")[1]!, ...digests]) {
    assert.not.match(text, secret);
  }
});

test("a deleted account leaves nothing, and its access ends at once", async () => {
  const server = await newServer();
  await addUser(server.store, { username: "bob", password: "b" }, 1000);
  const tokens = await server.tokens({ scope: "read profile" });
  const [cookie, other] = [await server.signIn(), await server.signIn()];
  const { id } = (await server.store.list<{ id: string; username: string }>(["user"]))
    .map(({ value }) => value).find(({ username }) => username === "alice")!;
  await setTotp(server.store, id, { sealed: "x", created: 5, step: 1 });
  await server.store.commit({
    set: [
      { key: verifiedEmailKey("alice@example.com"), value: id },
      { key: passwordResetKey(id), value: {} },
      { key: emailVerificationKey(id), value: {} },
      { key: providerTokensKey(id, "oidc"), value: { sealed: "of another secret" } },
      { key: approvalMemoryKey(id, "digest"), value: ALLOWED },
    ],
  });
  const wrong = await post(server, "/account/delete", cookie, { confirmation: "bob" });
  assert.is(wrong.status, 400);
  const deleted = await post(server, "/account/delete", cookie, { confirmation: "alice" });
  assert.is(deleted.status, 200);
  assert.match(deleted.headers.get("set-cookie")!, /session_id=;.*Max-Age=0/);
  for (const each of [cookie, other]) assert.is((await get(server, "/account", each)).status, 302);
  const headers = { authorization: `Bearer ${tokens["access_token"]}` };
  assert.is((await server.send("/api/user", { headers })).status, 401);
  const form = { username: "alice", password: "wonderland" };
  assert.is((await server.send("/login", { form })).status, 401);
  const left = JSON.parse(await dump(server.store))
    .filter(({ key, value }: { key: string[]; value: unknown }) => JSON.stringify([key, value]).includes(id))
    .map(({ key }: { key: string[] }) => key[0]);
  // Refused without their user, and kept until they expire: a consumed code, so that a replay is recognized. When the
  // sessions ended is kept for logins that began before.
  assert.equal([...new Set(left)].sort(), ["access_token", "code", "signed_out"]);
  assert.equal(server.events.filter(({ type }) => type === "account_deleted"), [
    { type: "account_deleted", user: id, ip: undefined },
  ]);
  assert.match(await signIn(server, "bob", "b"), "session_id=");
});

test("the last administrator does not delete the own account, also not by concurrent requests", async () => {
  const server = await newServer();
  const remove = async (username: string, cookie: string) =>
    (await post(server, "/account/delete", cookie, { confirmation: username })).status;
  await updateUser(server.store, "alice", { role: "admin" });
  const alice = await server.signIn();
  assert.is(await remove("alice", alice), 409);
  await addUser(server.store, { username: "bob", password: "b", role: "admin" }, 1000);
  await lockUser(server.store, "bob");
  assert.is(await remove("alice", alice), 409);
  await unlockUser(server.store, "bob");
  const bob = await signIn(server, "bob", "b");
  assert.equal((await Promise.all([remove("alice", alice), remove("bob", bob)])).sort(), [200, 409]);
  assert.is((await server.store.list(["user"])).length, 1);
  assert.is(server.events.filter(({ type }) => type === "account_deleted").length, 1);
});

test.run();
