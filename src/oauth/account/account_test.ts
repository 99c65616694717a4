import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Store } from "../../store/store.ts";
import { toClient } from "../clients/client.ts";
import { APP_URI, CLIENTS, newServer, type TestServer } from "../test_server.ts";
import { addUser } from "../users/user.ts";
import { setTotp } from "../factors/change_factors.ts";
import { providerTokensKey } from "../records/provider_record.ts";
import { emailVerificationKey, passwordResetKey, verifiedEmailKey } from "../records/user_record.ts";
import { ACCOUNT_PATHS } from "./routes.ts";

const test = suite("oauth/account");
const PASSWORD = {
  password: "wonderland",
  new_password: "down the hole 7",
  new_password_again: "down the hole 7",
};

function cookieOf(response: Response): string {
  return response.headers.getSetCookie().map((field) => field.split(";")[0]!).join("; ");
}

async function signIn(server: TestServer, username: string, password: string): Promise<string> {
  return cookieOf(await server.send("/login", { form: { username, password } }));
}

async function get(server: TestServer, path: string, cookie: string): Promise<Response> {
  return await server.send(path, { headers: { cookie, accept: "text/html" } });
}

async function post(
  server: TestServer,
  path: string,
  cookie: string,
  form: Record<string, string>,
): Promise<Response> {
  return await server.send(path, { form, headers: { cookie, accept: "text/html" } });
}

function locationOf(response: Response): [number, string | null] {
  const location = response.headers.get("location");
  // What was done is bound to the session.
  return [response.status, location?.replace(/(\?done=\w+)\.[\w-]{16}$/, "$1") ?? null];
}

const TO_LOGIN = (path: string) => `/login?redirect=${encodeURIComponent(path)}&reauthenticate=1`;

/** Every record of the store, as text. */
async function dump(store: Store): Promise<string> {
  const kinds = [
    "user",
    "username",
    "profile",
    "linked_account",
    "user_identity",
    "session",
    "user_session",
    "grant",
    "user_grant",
    "consent",
    "access_token",
    "user_factors",
    "passkey",
    "password_reset",
    "email_verification",
    "verified_email",
    "provider_tokens",
    "code",
    "transaction",
  ];
  const records = await Promise.all(kinds.map((kind) => store.list([kind], { limit: 1000 })));
  return JSON.stringify(records);
}

test("the overview links the pages that apply to a user of this server", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const response = await get(server, "/account", cookie);
  assert.is(response.status, 200);
  const page = await response.text();
  assert.match(page, "Alice Liddell");
  for (const section of ["profile", "password", "factors", "sessions", "applications", "data"]) {
    assert.match(page, `href="/account/${section}"`);
  }
  assert.not.match(page, "/account/providers");
  assert.match(response.headers.get("content-security-policy")!, "frame-ancestors 'none'");
  assert.match(response.headers.get("cache-control")!, "no-store");
});

test("without a session every page leads to the login page and back", async () => {
  const server = await newServer();
  for (const path of ACCOUNT_PATHS.filter((path) => path !== "/account/export")) {
    const response = await server.send(path);
    assert.equal(locationOf(response), [302, `/login?redirect=${encodeURIComponent(path)}`], path);
  }
  // A form whose session has ended leads to a page that there is.
  const sent = await server.send("/account/export", { form: {} });
  assert.equal(locationOf(sent), [302, "/login?redirect=%2Faccount%2Fdata"]);
});

test("the option account removes the pages", async () => {
  const server = await newServer({ account: false });
  const cookie = await server.signIn();
  for (const path of ACCOUNT_PATHS) assert.is((await get(server, path, cookie)).status, 404, path);
});

test("a user changes the name", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const done = await post(server, "/account/profile", cookie, { name: " Alice <b>L.</b> " });
  assert.equal(locationOf(done), [303, "/account/profile?done=name"]);
  const page = await (await get(server, done.headers.get("location")!, cookie)).text();
  assert.match(page, 'value="Alice &lt;b&gt;L.&lt;/b&gt;"');
  assert.match(page, 'role="status"');
  for (const name of ["", "  ", "a\nb", "x".repeat(129), "a\u2028b"]) {
    const refused = await post(server, "/account/profile", cookie, { name });
    assert.is(refused.status, 400, JSON.stringify(name));
    assert.match(await refused.text(), 'role="alert"');
  }
});

test("the notice of what was done is bound to the session", async () => {
  const server = await newServer();
  const [cookie, other] = [await server.signIn(), await server.signIn()];
  const done = (await post(server, "/account/profile", cookie, { name: "A" })).headers.get("location")!;
  assert.not.match(await (await get(server, done, other)).text(), 'role="status"');
  assert.not.match(await (await get(server, done.replace("name", "email"), cookie)).text(), 'role="status"');
  assert.not.match(await (await get(server, "/account/profile?done=name", cookie)).text(), 'role="status"');
});

test("changes that could take the account away need a login of the last ten minutes", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  server.advance(601);
  for (const path of ["/account/email", "/account/password", "/account/delete"]) {
    assert.equal(locationOf(await get(server, path, cookie)), [303, TO_LOGIN(path)], path);
  }
  const forms = {
    "/account/email": { email: "evil@example.com" },
    "/account/password": PASSWORD,
    "/account/delete": { confirmation: "alice" },
    "/account/providers": { link: "oidc" },
  };
  for (const [path, form] of Object.entries(forms)) {
    assert.equal(locationOf(await post(server, path, cookie, form)), [303, TO_LOGIN(path)], path);
  }
  assert.match(await (await get(server, "/account/profile", cookie)).text(), "alice@example.com");
  const again = cookieOf(
    await server.send(TO_LOGIN("/account/email"), {
      form: { username: "alice", password: "wonderland" },
      headers: { cookie },
    }),
  );
  assert.is((await get(server, "/account/email", again)).status, 200);
});

test("without sendMail a new address replaces the old one at once, not verified", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const done = await post(server, "/account/email", cookie, { email: "alice@new.example" });
  assert.equal(locationOf(done), [303, "/account/profile?done=email"]);
  const page = await (await get(server, "/account/profile", cookie)).text();
  assert.match(page, /alice@new\.example \(not verified\)/);
  assert.equal(
    server.events.filter(({ type }) => type === "email_changed").map((event) =>
      "user" in event && event.user
    ),
    [(await server.store.list<{ id: string }>(["user"]))[0]!.value.id],
  );
  for (const email of ["alice", "a@b@c", "a b@example.com", "a@example.com\r\nBcc: x@example.com"]) {
    assert.is((await post(server, "/account/email", cookie, { email })).status, 400, email);
  }
  await post(server, "/account/email", cookie, { email: "" });
  assert.not.match(await (await get(server, "/account/profile", cookie)).text(), "alice@new.example");
});

test("with sendMail the new address gets a link, and the old one stays until it is followed", async () => {
  const mails: { to: string; kind: string }[] = [];
  const server = await newServer({ sendMail: (mail) => Promise.resolve(void mails.push(mail)) });
  const cookie = await server.signIn();
  const done = await post(server, "/account/email", cookie, { email: "alice@new.example" });
  assert.equal(locationOf(done), [303, "/account/profile?done=email_sent"]);
  await new Promise((resolve) => setTimeout(resolve, 20));
  assert.equal(mails.map(({ to, kind }) => [to, kind]), [["alice@new.example", "email_verification"]]);
  assert.match(await (await get(server, "/account/profile", cookie)).text(), "alice@example.com");
});

test("a new password ends the other sessions, and this one goes on under a new id", async () => {
  const server = await newServer();
  const [cookie, other] = [await server.signIn(), await server.signIn()];
  const done = await post(server, "/account/password", cookie, PASSWORD);
  assert.equal(locationOf(done), [303, "/account/password?done=password"]);
  const renewed = cookieOf(done);
  assert.is.not(renewed, cookie);
  assert.is((await get(server, "/account", renewed)).status, 200);
  for (const old of [cookie, other]) assert.is((await get(server, "/account", old)).status, 302);
  // In the millisecond of the change no login succeeds.
  server.advance(1);
  const login = async (password: string) =>
    (await server.send("/login", { form: { username: "alice", password } })).status;
  assert.is(await login("wonderland"), 401);
  assert.is(await login(PASSWORD.new_password), 200);
  assert.is(server.events.filter(({ type }) => type === "password_changed").length, 1);
});

test("a password that is wrong or breaks a rule changes nothing", async () => {
  const breached = "password breached";
  const server = await newServer({
    passwordPolicy: { minLength: 12, maxLength: 100, isBreached: (each) => each === breached },
  });
  const cookie = await server.signIn();
  const refused = [
    { ...PASSWORD, password: "wrong" },
    { ...PASSWORD, password: "" },
    { ...PASSWORD, new_password_again: "another one 7" },
    { password: "wonderland", new_password: "short", new_password_again: "short" },
    { password: "wonderland", new_password: "x".repeat(101), new_password_again: "x".repeat(101) },
    { password: "wonderland", new_password: breached, new_password_again: breached },
    { password: "wonderland", new_password: "alice@example.com", new_password_again: "alice@example.com" },
  ];
  for (const form of refused) {
    const response = await post(server, "/account/password", cookie, form);
    assert.is(response.status, 400, JSON.stringify(form));
    const page = await response.text();
    assert.match(page, 'role="alert"');
    assert.not.match(page, form.new_password.slice(0, 50) + '"');
  }
  assert.is((await get(server, "/account", cookie)).status, 200);
  await server.signIn();
});

test("wrong present passwords are limited as failed logins are", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const send = (password: string) =>
    server.service.fetch(
      new Request("https://as.example/account/password", {
        method: "POST",
        headers: { cookie, "content-type": "application/x-www-form-urlencoded" },
        body: new URLSearchParams({ ...PASSWORD, password }),
      }),
      { ip: "192.0.2.1" },
    );
  for (let i = 0; i < 5; i++) assert.is((await send("wrong")).status, 400);
  const limited = await send("wonderland");
  assert.is(limited.status, 429);
  assert.ok(Number(limited.headers.get("retry-after")) > 0);
});

test("a user who has no password sets one", async () => {
  const server = await newServer();
  const { value: alice, key } = (await server.store.list<Record<string, unknown>>(["user"]))[0]!;
  const cookie = await server.signIn();
  await server.store.commit({ set: [{ key, value: { ...alice, passwordless: true } }] });
  assert.not.match(await (await get(server, "/account/password", cookie)).text(), 'name="password"');
  const { password: _, ...form } = PASSWORD;
  assert.is((await post(server, "/account/password", cookie, form)).status, 303);
  server.advance(1);
  assert.match(await signIn(server, "alice", PASSWORD.new_password), "session_id=");
});

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
  const left = JSON.parse(await dump(server.store)).flat()
    .filter(({ key, value }: { key: string[]; value: unknown }) => JSON.stringify([key, value]).includes(id))
    .map(({ key }: { key: string[] }) => key[0]);
  // Refused without their user, and kept until they expire: a consumed code, so that a replay is recognized.
  assert.equal([...new Set(left)].sort(), ["access_token", "code"]);
  assert.equal(server.events.filter(({ type }) => type === "account_deleted"), [
    { type: "account_deleted", user: id, ip: undefined },
  ]);
  assert.match(await signIn(server, "bob", "b"), "session_id=");
});

test("for users of another system there are sessions, applications and the copy only", async () => {
  const authenticateUser = () => Promise.resolve({ id: "idp|1", name: "Bob", email: "b@example.com" });
  const server = await newServer({ authenticateUser });
  const cookie = await server.signIn();
  const page = await (await get(server, "/account", cookie)).text();
  const linked = [...page.matchAll(/href="\/account\/(\w+)"/g)].map(([, name]) => name);
  assert.equal(linked, ["sessions", "applications", "data"]);
  for (
    const path of [
      "/account/profile",
      "/account/email",
      "/account/password",
      "/account/providers",
      "/account/delete",
    ]
  ) {
    assert.is((await get(server, path, cookie)).status, 404, path);
    assert.is((await post(server, path, cookie, { confirmation: "Bob", link: "x" })).status, 404, path);
  }
  for (const path of ["/account/sessions", "/account/applications", "/account/data"]) {
    assert.is((await get(server, path, cookie)).status, 200, path);
  }
  const data = await (await post(server, "/account/export", cookie, {})).json();
  assert.equal(data.profile, { id: "idp|1", name: "Bob", email: "b@example.com" });
});

test("the pages are in German for browsers that prefer it", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  for (const path of ACCOUNT_PATHS.filter((path) => !/export|providers/.test(path))) {
    const response = await server.send(path, { headers: { cookie, "accept-language": "de-AT, en;q=0.5" } });
    assert.match(await response.text(), '<html lang="de">', path);
  }
});

test("below a path, links and forms have the prefix", async () => {
  const issuer = "https://as.example/tenant";
  const server = await newServer({ issuer, store: memoryStore() });
  const login = await server.send("/tenant/login", { form: { username: "alice", password: "wonderland" } });
  const cookie = cookieOf(login);
  assert.match(await (await get(server, "/tenant/account", cookie)).text(), 'href="/tenant/account/profile"');
  const done = await post(server, "/tenant/account/profile", cookie, { name: "A" });
  assert.match(done.headers.get("location")!, /^\/tenant\/account\/profile\?done=name\./);
});

test.run();
