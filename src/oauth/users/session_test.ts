import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newServer, type TestServer } from "../test_server.ts";

const test = suite("oauth/session");

const isSignedIn = async (server: TestServer, cookie: string) =>
  (await server.send(server.authorizePath(), { headers: { cookie } })).status === 200;

test("an unused session expires after its idle lifetime, a used one after its absolute lifetime", async () => {
  const server = await newServer({ sessionIdleLifetime: 600, sessionLifetime: 3600 });
  const [idle, used] = [await server.signIn(), await server.signIn()];
  for (let minutes = 9; minutes < 60; minutes += 9) {
    server.advance(540);
    assert.ok(await isSignedIn(server, used), `after ${minutes} minutes`);
  }
  assert.not.ok(await isSignedIn(server, idle));
  server.advance(400);
  assert.not.ok(await isSignedIn(server, used), "the absolute lifetime is over");
});

test("use of a session is written at most once in a tenth of its idle lifetime", async () => {
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

test("each login creates its own session, and logout ends only that one", async () => {
  const server = await newServer();
  const [one, other] = [await server.signIn(), await server.signIn()];
  await server.send("/logout", { method: "POST", headers: { cookie: one } });
  assert.equal([await isSignedIn(server, one), await isSignedIn(server, other)], [false, true]);
});

test("an http issuer on loopback accepts the plain cookie, also of browsers", async () => {
  const server = await newServer({ issuer: "http://127.0.0.1:8787" });
  const login = await server.send("/login", { form: { username: "alice", password: "wonderland" } });
  const [session, ...others] = login.headers.getSetCookie();
  assert.equal(others.map((cookie) => cookie.split("=")[0]), ["login_device"]);
  assert.match(
    session!,
    /^session_id=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600$/,
  );
  const headers = {
    cookie: session!.split(";")[0]!,
    "sec-fetch-site": "same-origin",
  };
  assert.is((await server.send(server.authorizePath(), { headers })).status, 200);
});

/** The `Cookie` value that a browser sends to a path after this login (RFC 6265 section 5.4). */
function toCookieJar(response: Response): (path: string) => string {
  const cookies = response.headers.getSetCookie().map((field) => ({
    pair: field.split(";")[0]!,
    path: /; Path=([^;]+)/.exec(field)![1]!,
  }));
  return (path) =>
    cookies.filter((cookie) =>
      cookie.path === "/" || path === cookie.path || path.startsWith(cookie.path + "/")
    )
      .map(({ pair }) => pair).join("; ");
}
const ALICE = { username: "alice", password: "wonderland" };
const BROWSER = { "sec-fetch-site": "same-origin" };

for (const issuer of ["http://127.0.0.1:8787", "https://as.example", "http://127.0.0.1:8787/tenant"]) {
  const base = new URL(issuer).pathname.replace(/\/$/, "");

  test(`${issuer}: the cookies that a browser sends to another port or host do not authenticate`, async () => {
    const server = await newServer({ issuer });
    const jar = toCookieJar(await server.send(`${base}/login`, { form: ALICE, headers: BROWSER }));
    const open = async (cookie: string, headers = {}) =>
      (await server.send(base + server.authorizePath(), { headers: { cookie, ...headers } })).status;
    const stolen = jar("/callback").split("; ").find((pair) => pair.startsWith("session_id="))!;
    assert.match(stolen, /^session_id=[A-Za-z0-9_-]{43}$/);
    assert.equal([await open(stolen), await open(stolen, BROWSER)], [302, 302]);
    assert.not.match(jar("/callback"), /session_key|(?<!__Host-)login_device/);
    assert.is(await open(jar(`${base}/oauth/authorize`), BROWSER), 200);
  });

  test(`${issuer}: a browser session is valid at every page, and logout ends it at every page`, async () => {
    const server = await newServer({ issuer });
    const jar = toCookieJar(await server.send(`${base}/login`, { form: ALICE, headers: BROWSER }));
    const send = (path: string, method = "GET") =>
      server.send(base + path, { method, headers: { cookie: jar(base + path), ...BROWSER } });
    assert.is((await send("/device")).status, 200);
    const out = await send("/logout", "POST");
    assert.is(out.status, 200);
    for (const field of out.headers.getSetCookie()) assert.match(field, "Max-Age=0");
    const before = jar("/oauth/authorize").split("; ").filter((pair) =>
      !pair.includes("login_device=")
    ).length;
    assert.ok(out.headers.getSetCookie().length >= before);
    assert.is((await send("/device")).status, 302);
  });
}

test("servers below one https host do not overwrite the cookies of each other's browsers", async () => {
  const bases = ["", "/a", "/a/b"];
  const servers = await Promise.all(bases.map((base) => newServer({ issuer: `https://as.example${base}` })));
  const jar = new Map<string, string>();
  const cookie = () => [...jar].map((pair) => pair.join("=")).join("; ");
  for (const [i, server] of servers.entries()) {
    const headers = { cookie: cookie(), ...BROWSER };
    const login = await server.send(`${bases[i]}/login`, { form: ALICE, headers });
    for (const field of login.headers.getSetCookie()) {
      const [, name, value] = /^([^=]+)=([^;]*);/.exec(field)!;
      jar.set(name!, value!);
    }
  }
  for (const [i, server] of servers.entries()) {
    const headers = { cookie: cookie(), ...BROWSER };
    assert.is((await server.send(`${bases[i]}/device`, { headers })).status, 200, bases[i]);
  }
  assert.is([...jar.keys()].filter((name) => name.startsWith("__Host-login_device")).length, 3);
});

test("a program that logs in with the cookies of an earlier browser login is signed in", async () => {
  const server = await newServer({ issuer: "http://127.0.0.1:8787" });
  const first = toCookieJar(await server.send("/login", { form: ALICE, headers: BROWSER }));
  const second = await server.send("/login", { form: ALICE, headers: { cookie: first("/login") } });
  const fields = second.headers.getSetCookie();
  assert.ok(fields.some((field) => /^session_key=; Path=\/oauth\/authorize; .*Max-Age=0/.test(field)));
  assert.ok(await isSignedIn(server, fields[0]!.split(";")[0]!));
});

test.run();
