import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newServer, type TestServer } from "./test_server.ts";

const test = suite("oauth/session");

const isSignedIn = async (server: TestServer, cookie: string) =>
  (await server.send(server.authorizePath(), { headers: { cookie } })).status === 200;

test("a session that nobody uses ends early, one in use lives until its absolute end", async () => {
  const server = await newServer({ sessionIdleLifetime: 600, sessionLifetime: 3600 });
  const [idle, used] = [await server.signIn(), await server.signIn()];
  for (let minutes = 9; minutes < 60; minutes += 9) {
    server.advance(540);
    assert.ok(await isSignedIn(server, used), `after ${minutes} minutes`);
  }
  assert.not.ok(await isSignedIn(server, idle));
  server.advance(400);
  assert.not.ok(await isSignedIn(server, used), "an hour after the login, in use or not");
});

test("a session in use is written seldom", async () => {
  const server = await newServer({ sessionIdleLifetime: 1000 });
  const cookie = await server.signIn();
  const version = async () => (await server.store.list(["session"]))[0]!.version;
  const before = await version();
  for (let i = 0; i < 10; i++) {
    server.advance(9);
    await isSignedIn(server, cookie);
  }
  assert.is(await version(), before);
  server.advance(20);
  await isSignedIn(server, cookie);
  assert.is.not(await version(), before);
});

test("each login begins a session of its own; signing out ends only the one", async () => {
  const server = await newServer();
  const [one, other] = [await server.signIn(), await server.signIn()];
  await server.send("/logout", { method: "POST", headers: { cookie: one } });
  assert.equal([await isSignedIn(server, one), await isSignedIn(server, other)], [false, true]);
});

test("an http issuer on loopback has the plain cookie, and browsers are believed it", async () => {
  const server = await newServer({ issuer: "http://127.0.0.1:8787" });
  const login = await server.send("/login", { form: { username: "alice", password: "wonderland" } });
  assert.is(login.headers.getSetCookie().length, 1);
  assert.match(
    login.headers.get("set-cookie")!,
    /^session_id=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600$/,
  );
  const headers = {
    cookie: login.headers.get("set-cookie")!.split(";")[0]!,
    "sec-fetch-site": "same-origin",
  };
  assert.is((await server.send(server.authorizePath(), { headers })).status, 200);
});

test.run();
