import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newServer } from "../test_server.ts";

const test = suite("oauth/login");
const ALICE = { username: "alice", password: "wonderland" };

test("GET /login returns a form with username and password whose action keeps redirect", async () => {
  const server = await newServer();
  const response = await server.send("/login?redirect=" + encodeURIComponent("/oauth/authorize?a=1&b=2"));
  assert.is(response.status, 200);
  assert.is(response.headers.get("content-type"), "text/html; charset=utf-8");
  const page = await response.text();
  assert.match(page, 'method="post"');
  assert.match(page, 'action="/login?redirect=%2Foauth%2Fauthorize%3Fa%3D1%26b%3D2"');
  assert.match(page, 'name="username"');
  assert.match(page, 'name="password"');
});

test("POST /login creates a session, sets its cookie and redirects", async () => {
  const server = await newServer();
  const response = await server.send("/login?redirect=%2Foauth%2Fauthorize%3Fa%3D%2541", { form: ALICE });
  assert.is(response.status, 302);
  assert.is(response.headers.get("location"), "/oauth/authorize?a=%41");
  // On https the same secret is also set with the __Host- prefix, the only name that counts for browsers.
  const [plain, prefixed] = response.headers.getSetCookie();
  assert.match(
    plain!,
    /^session_id=[A-Za-z0-9_-]{43}; Path=\/; HttpOnly; SameSite=Lax; Max-Age=3600; Secure$/,
  );
  assert.is(prefixed, "__Host-" + plain);
});

test("POST /login without redirect gets plain text with the name of the user", async () => {
  const server = await newServer();
  for (const path of ["/login", "/login?redirect="]) {
    const response = await server.send(path, { form: ALICE });
    assert.is(response.status, 200);
    assert.is(response.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.match(await response.text(), "Alice Liddell");
  }
});

test("an unknown user and a wrong password get the same 401 in plain text, without a cookie", async () => {
  const server = await newServer();
  const texts = new Set<string>();
  for (
    const form of [{ ...ALICE, password: "wrong" }, { ...ALICE, username: "unknown" }, {
      ...ALICE,
      password: "x".repeat(2000),
    }]
  ) {
    const response = await server.send("/login", { form });
    assert.is(response.status, 401);
    assert.is(response.headers.get("content-type"), "text/plain; charset=utf-8");
    assert.is(response.headers.get("set-cookie"), null);
    texts.add(await response.text());
  }
  assert.is(texts.size, 1);
});

test("a browser gets the 401 as a page with the form", async () => {
  const server = await newServer();
  const headers = { accept: "text/html,application/xhtml+xml,*/*;q=0.8" };
  const response = await server.send("/login?redirect=%2Fx", {
    form: { ...ALICE, password: "wrong" },
    headers,
  });
  assert.is(response.status, 401);
  const page = await response.text();
  assert.match(page, 'role="alert">');
  assert.match(page, 'action="/login?redirect=%2Fx"');
});

for (
  const redirect of [
    "https://evil.example",
    "//evil.example",
    "///evil.example",
    "/\\evil.example",
    "\\/evil.example",
    "\\\\evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/.//evil.example",
    "/x/..//evil.example",
    "javascript:alert(1)",
    "data:text/html,x",
    "https:evil.example",
    "https://as.example@evil.example/",
    "https://as.example.evil.example/",
    "http://as.example/",
    "https://as.example:8443/",
    "https://u:p@as.example/",
    "/x\r\nset-cookie: a=b",
    " //evil.example",
    "/" + "x".repeat(9000),
  ]
) {
  test(`redirect=${JSON.stringify(redirect).slice(0, 60)} is refused, and starts no session`, async () => {
    const server = await newServer();
    const path = "/login?redirect=" + encodeURIComponent(redirect);
    for (const response of [await server.send(path), await server.send(path, { form: ALICE })]) {
      assert.is(response.status, 400);
      assert.is(response.headers.get("location"), null);
      assert.is(response.headers.get("set-cookie"), null);
    }
  });
}

test("an absolute redirect on the issuer's origin becomes a path", async () => {
  const server = await newServer();
  const response = await server.send("/login?redirect=" + encodeURIComponent("https://as.example/a?b#c"), {
    form: ALICE,
  });
  assert.is(response.headers.get("location"), "/a?b#c");
});

test("a redirect through percent-encoded slashes stays on this server", async () => {
  const server = await newServer();
  const response = await server.send("/login?redirect=" + encodeURIComponent("/%2f/evil.example"), {
    form: ALICE,
  });
  assert.is(response.headers.get("location"), "/%2f/evil.example");
});

test("a repeated redirect is refused", async () => {
  const server = await newServer();
  assert.is((await server.send("/login?redirect=/a&redirect=//evil.example", { form: ALICE })).status, 400);
});

test("a cross-site form creates no session (login CSRF)", async () => {
  const server = await newServer();
  for (const headers of [{ origin: "https://evil.example" }, { "sec-fetch-site": "cross-site" }]) {
    const response = await server.send("/login", { form: ALICE, headers });
    assert.is(response.status, 403);
    assert.is(response.headers.get("set-cookie"), null);
  }
});

test("missing, empty and repeated fields get 400, another media type 415, a large body 413", async () => {
  const server = await newServer();
  for (const form of [{}, { username: "alice" }, { password: "x" }, { username: "", password: "" }]) {
    assert.is((await server.send("/login", { form })).status, 400);
  }
  assert.is(
    (await server.send("/login", { form: "username=alice&password=a&password=wonderland" })).status,
    400,
  );
  const headers = { "content-type": "application/json" };
  assert.is((await server.send("/login", { form: JSON.stringify(ALICE), headers })).status, 415);
  assert.is((await server.send("/login", { form: "username=" + "x".repeat(20_000) })).status, 413);
});

test("a login creates a new session id and ends the previous session (session fixation)", async () => {
  const server = await newServer();
  const first = await server.signIn();
  const second = await server.send("/login", { form: ALICE, headers: { cookie: first } });
  assert.is.not(second.headers.get("set-cookie")!.split(";")[0], first);
  const response = await server.send(server.authorizePath(), { headers: { cookie: first } });
  assert.is(response.status, 302, "the previous session has ended");
  const planted = "session_id=" + "p".repeat(43);
  const third = await server.send("/login", { form: ALICE, headers: { cookie: planted } });
  assert.is.not(third.headers.get("set-cookie")!.split(";")[0], planted);
  assert.is((await server.send(server.authorizePath(), { headers: { cookie: planted } })).status, 302);
});

test("a session ends when its lifetime is over, at logout, and when its user is removed", async () => {
  const server = await newServer();
  const isSignedIn = async (cookie: string) =>
    (await server.send(server.authorizePath(), { headers: { cookie } })).status === 200;
  const aged = await server.signIn();
  assert.ok(await isSignedIn(aged));
  server.advance(3601);
  assert.not.ok(await isSignedIn(aged));
  const left = await server.signIn();
  const response = await server.send("/logout", { method: "POST", headers: { cookie: left } });
  assert.is(response.status, 200);
  const ended = "session_id=; Path=/; HttpOnly; SameSite=Lax; Max-Age=0; Secure";
  assert.equal(response.headers.getSetCookie(), [ended, "__Host-" + ended]);
  assert.not.ok(await isSignedIn(left));
  const orphan = await server.signIn();
  const { removeUser } = await import("../users/remove_user.ts");
  assert.is(await removeUser(server.store, "Alice"), true);
  assert.not.ok(await isSignedIn(orphan));
});

test("GET /logout does not end the session, and a cross-site POST is refused", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  assert.match(await (await server.send("/logout", { headers: { cookie } })).text(), "<form");
  const headers = { cookie, origin: "https://evil.example" };
  assert.is((await server.send("/logout", { method: "POST", headers })).status, 403);
  assert.is((await server.send(server.authorizePath(), { headers: { cookie } })).status, 200);
});

test("the store and the events contain no session secret and no password", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await server.send("/login", { form: { ...ALICE, password: "mistyped-secret" } });
  const stored = JSON.stringify([...await server.store.list([], { limit: 1000 })]);
  for (const secret of [cookie.split("=")[1]!, "wonderland", "mistyped-secret"]) {
    assert.not.ok(stored.includes(secret));
    assert.not.ok(JSON.stringify(server.events).includes(secret));
  }
});

test("a password hash with too few iterations is renewed at login", async () => {
  const server = await newServer({ passwordIterations: 2000 });
  const hash = async () => (await server.store.list<{ password: string }>(["user"]))[0]!.value.password;
  assert.match(await hash(), "$1000$");
  await server.signIn();
  assert.match(await hash(), "$2000$");
  assert.ok(await server.signIn());
});

test.run();
