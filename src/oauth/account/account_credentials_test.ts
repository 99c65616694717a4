/**
 * The account pages of the e-mail address and the password.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { interruptAfter } from "../../store/test_meanwhile.ts";
import { newMailServer } from "../mail/test_mailbox.ts";
import { newServer } from "../test_server.ts";
import { listUserSessions } from "../users/user_sessions.ts";
import { cookieOf, get, locationOf, PASSWORD, post, signIn } from "./test_account.ts";

const test = suite("oauth/account/account_credentials");

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
  const mails: [to: string, kind: string][] = [];
  const mailed = Promise.withResolvers<void>();
  const server = await newServer({
    async sendMail({ to, kind }) {
      mails.push([to, kind]);
      mailed.resolve();
    },
  });
  const cookie = await server.signIn();
  const done = await post(server, "/account/email", cookie, { email: "alice@new.example" });
  assert.equal(locationOf(done), [303, "/account/profile?done=email_sent"]);
  await mailed.promise;
  assert.equal(mails, [["alice@new.example", "email_verification"]]);
  assert.match(await (await get(server, "/account/profile", cookie)).text(), "alice@example.com");
});

test("the present address gets a notice when it is removed, so none is replaced in silence", async () => {
  const server = await newMailServer();
  const cookie = await server.signIn();
  const done = await server.request("/account/email", {
    form: { email: "" },
    headers: { cookie },
  });
  assert.equal(locationOf(done), [303, "/account/profile?done=email"]);
  assert.equal(server.mails.map(({ to, kind }) => [to, kind]), [["alice@example.com", "email_removed"]]);
  assert.match(server.mails[0]!.text, "alice");
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

test("a change of the password that is interrupted leaves the old one, or ends the other sessions", async () => {
  for (let commits = 0, isDone = false; !isDone; commits++) {
    const server = await newServer();
    const [cookie, other] = [await server.signIn(), await server.signIn()];
    const restore = interruptAfter(server.store, commits);
    const { status } = await post(server, "/account/password", cookie, PASSWORD);
    isDone = !restore();
    assert.is(status, isDone ? 303 : 503, `${commits} commits`);
    server.advance(1);
    const login = async (password: string) =>
      (await server.send("/login", { form: { username: "alice", password } })).status;
    if (await login("wonderland") === 401) {
      assert.is(await login(PASSWORD.new_password), 200, `${commits} commits`);
      for (const old of [cookie, other]) {
        assert.is((await get(server, "/account", old)).status, 302, `${commits} commits`);
      }
    } else {
      assert.is((await post(server, "/account/password", cookie, PASSWORD)).status, 303, `again: ${commits}`);
    }
    assert.ok(commits < 20);
  }
});

test("of concurrent changes of the password one wins, and one session is left", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const user = (await server.store.list<{ id: string }>(["user"]))[0]!.value.id;
  const changes = ["one new password", "another password", "a third password"].map((new_password) =>
    post(server, "/account/password", cookie, { ...PASSWORD, new_password, new_password_again: new_password })
  );
  const statuses = (await Promise.all(changes)).map(({ status }) => status);
  assert.is(statuses.filter((status) => status === 303).length, 1, String(statuses));
  assert.ok(statuses.every((status) => status === 303 || status >= 400 && status < 500), String(statuses));
  assert.is((await listUserSessions(server.store, user)).length, 1);
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

test.run();
