import { suite } from "uvu";
import * as assert from "uvu/assert";
import { afterNextRead } from "../../store/test_meanwhile.ts";
import { type Session, sessionKey, userSessionKey } from "../records/session_record.ts";
import { newBrowser, newProvider, newSignInServer, signIn as signInAt } from "../sign_in/test_provider.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { listUsers } from "./user.ts";
import { endUserSession, endUserSessions, listUserSessions } from "./user_sessions.ts";

const test = suite("oauth/user_sessions");
const ALICE = { username: "alice", password: "wonderland" };

async function aliceOf({ store }: TestServer): Promise<string> {
  for await (const { id } of listUsers(store)) return id;
  throw new Error("no user");
}

/** Signs in from a browser with this name and address; the `Cookie` value. */
async function signIn(server: TestServer, agent: string, ip = "203.0.113.7"): Promise<string> {
  const request = new Request("https://as.example/login", {
    method: "POST",
    body: new URLSearchParams(ALICE),
    headers: { "user-agent": agent },
  });
  const response = await server.service.fetch(request, { ip });
  return response.headers.get("set-cookie")!.split(";")[0]!;
}
const isSignedIn = async (server: TestServer, cookie: string) =>
  (await server.send(server.authorizePath(), { headers: { cookie } })).status === 200;
const agentsOf = async (server: TestServer) =>
  (await listUserSessions(server.store, await aliceOf(server))).map(({ agent }) => agent);
const indexOf = async (server: TestServer) => await server.store.list(["user_session"]);

test("a session is listed with address, agent, times and authentication", async () => {
  const server = await newServer();
  const before = server.now();
  const cookie = await signIn(server, "Browser/" + "x".repeat(500));
  const [session, ...others] = await listUserSessions(server.store, await aliceOf(server));
  assert.equal(others, []);
  const { id, digest, created, seen, ...rest } = session!;
  assert.match(id, /^[A-Za-z0-9_-]{22}$/);
  assert.match(digest, /^[A-Za-z0-9_-]{43}$/);
  assert.ok(created >= before && created <= server.now() && seen === created);
  assert.equal(rest, { address: "203.0.113.7", agent: "Browser/" + "x".repeat(192), acr: "password" });
  assert.not.match(JSON.stringify(session), cookie.split("=")[1]!);
});

test("the session used last comes first", async () => {
  const server = await newServer({ sessionIdleLifetime: 1000 });
  const cookie = await signIn(server, "first");
  server.advance(1);
  await signIn(server, "second");
  assert.equal(await agentsOf(server), ["second", "first"]);
  server.advance(200);
  await isSignedIn(server, cookie);
  assert.equal(await agentsOf(server), ["first", "second"]);
});

test("a user can end one session, and not that of another user", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const [one, other] = [await signIn(server, "one"), await signIn(server, "other")];
  const { id } = (await listUserSessions(server.store, user)).find(({ agent }) => agent === "one")!;
  assert.is(await endUserSession(server.store, "user_other", id), false);
  assert.is(await endUserSession(server.store, user, "unknown"), false);
  assert.ok(await isSignedIn(server, one));
  assert.is(await endUserSession(server.store, user, id), true);
  assert.equal([await isSignedIn(server, one), await isSignedIn(server, other)], [false, true]);
  assert.equal(await agentsOf(server), ["other"]);
  assert.is((await indexOf(server)).length, 1);
});

test("a user can end all sessions but the present one", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  const cookies = [];
  // More than one commit ends at once.
  for (let i = 0; i < 120; i++) cookies.push(await signIn(server, `browser ${i}`));
  const own = (await listUserSessions(server.store, user)).find(({ agent }) => agent === "browser 7")!;
  assert.is(await endUserSessions(server.store, user, { except: own.digest }), 119);
  const signedIn = [];
  for (const [i, cookie] of cookies.entries()) if (await isSignedIn(server, cookie)) signedIn.push(i);
  assert.equal(signedIn, [7]);
  assert.is(await endUserSessions(server.store, user), 1);
  assert.equal(await agentsOf(server), []);
});

test("attack: a login that was under way while all sessions ended starts none", async () => {
  const gate = Promise.withResolvers<void>();
  const started = Promise.withResolvers<void>();
  let isSlow = true;
  const server = await newServer({
    async authenticateUser() {
      started.resolve();
      if (isSlow) await gate.promise;
      return { id: "user_1", name: "One", email: "" };
    },
  });
  const login = () => server.send("/login", { form: ALICE });
  const slow = login();
  await started.promise;
  await endUserSessions(server.store, "user_1");
  gate.resolve();
  isSlow = false;
  const refused = await slow;
  assert.equal([refused.status, refused.headers.getSetCookie()], [403, []]);
  assert.equal(await listUserSessions(server.store, "user_1"), []);
  assert.is((await login()).status, 200, "a later login");
  assert.is((await listUserSessions(server.store, "user_1")).length, 1);
});

test("attack: a sign-in at a provider that was under way while all sessions ended starts none", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  assert.is((await signInAt(browser, provider)).status, 302);
  const [session] = await server.store.list<Session>(["session"]);
  const { user } = session!.value;
  const begun = await browser.get("/login/oidc?redirect=%2Fdevice");
  await endUserSessions(server.store, user);
  const refused = await browser.get(provider.authorize(begun.headers.get("location")!).href);
  assert.is(refused.status, 403);
  assert.equal(await listUserSessions(server.store, user), []);
  assert.is((await signInAt(browser, provider)).status, 302, "a later sign-in");
});

test("a login that begins when all sessions have ended starts one, also within a millisecond", async () => {
  const server = await newServer();
  const user = await aliceOf(server);
  for (let i = 0; i < 10; i++) {
    const cookie = await signIn(server, "browser");
    assert.ok(await isSignedIn(server, cookie));
    await endUserSessions(server.store, user);
  }
});

test("a use of a session that was ended meanwhile does not bring it back", async () => {
  const server = await newServer({ sessionIdleLifetime: 1000 });
  const cookie = await signIn(server, "one");
  const user = await aliceOf(server);
  server.advance(200);
  const ended = afterNextRead(server.store, "session", () => endUserSessions(server.store, user));
  await isSignedIn(server, cookie);
  assert.ok(ended.isDone);
  assert.not.ok(await isSignedIn(server, cookie));
  assert.equal(await indexOf(server), []);
});

test("a login ends the session before it, with its index record, and so does logout", async () => {
  const server = await newServer();
  const first = await signIn(server, "one");
  const login = await server.send("/login", { form: ALICE, headers: { cookie: first } });
  const second = login.headers.get("set-cookie")!.split(";")[0]!;
  assert.is((await indexOf(server)).length, 1);
  await server.send("/logout", { method: "POST", headers: { cookie: second } });
  assert.equal(await indexOf(server), []);
});

test("index records expire with their sessions", async () => {
  const server = await newServer({ sessionIdleLifetime: 1000, sessionLifetime: 1500 });
  const cookie = await signIn(server, "one");
  const expiries = async () => {
    const [session] = await server.store.list(["session"]);
    const [index] = await indexOf(server);
    return [session?.expires, index?.expires];
  };
  const [session, index] = await expiries();
  assert.is(index, session);
  server.advance(900);
  await isSignedIn(server, cookie);
  const [later, laterIndex] = await expiries();
  assert.ok(later! > session!);
  assert.is(laterIndex, later);
  server.advance(700);
  assert.equal([await indexOf(server), await agentsOf(server)], [[], []]);
});

test("a session of an earlier version stays valid, and is listed once its use is written", async () => {
  const server = await newServer({ sessionIdleLifetime: 1000 });
  const cookie = await signIn(server, "one");
  const user = await aliceOf(server);
  const [entry] = await server.store.list<Session>(["session"]);
  const { id: _, agent: __, ...old } = entry!.value;
  const digest = String(entry!.key[1]);
  await server.store.commit({
    set: [{ key: sessionKey(digest), value: old, expires: entry!.expires }],
    remove: [userSessionKey(user, digest)],
  });
  assert.ok(await isSignedIn(server, cookie));
  assert.equal(await listUserSessions(server.store, user), []);
  server.advance(200);
  assert.ok(await isSignedIn(server, cookie));
  const [listed] = await listUserSessions(server.store, user);
  assert.is(listed?.digest, digest);
  assert.is(await endUserSession(server.store, user, listed!.id), true);
  assert.not.ok(await isSignedIn(server, cookie));
});

test("a login reads the user's factors, and writes the session and its index", async () => {
  const server = await newServer();
  const { store } = server;
  const calls: string[] = [];
  const [get, commit] = [store.get.bind(store), store.commit.bind(store)];
  Object.assign(store, {
    get(...call: Parameters<typeof get>) {
      calls.push(`get ${call[0][0]}`);
      return get(...call);
    },
    commit(...call: Parameters<typeof commit>) {
      calls.push(...call[0].set?.map(({ key }) => `set ${key[0]}`) ?? []);
      return commit(...call);
    },
  });
  await signIn(server, "one", undefined);
  assert.equal(calls.filter((call) => !/attempts/.test(call)), [
    "get username",
    "get user",
    "get user_factors",
    "set session",
    "set user_session",
  ]);
});

test.run();
