import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { newServer } from "../test_server.ts";
import { ACCOUNT_PATHS } from "./routes.ts";
import { cookieOf, get, locationOf, PASSWORD, post } from "./test_account.ts";

const test = suite("oauth/account");
const TO_LOGIN = (path: string) => `/login?redirect=${encodeURIComponent(path)}&reauthenticate=1`;

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

test("attack: no page runs a script or can be framed", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  for (const path of ACCOUNT_PATHS.filter((path) => path !== "/account/export")) {
    const response = await get(server, path, cookie);
    const policy = response.headers.get("content-security-policy")!;
    assert.match(policy, "default-src 'none'", path);
    assert.match(policy, "frame-ancestors 'none'", path);
    assert.not.match(policy, "script-src", path);
    assert.is(response.headers.get("x-frame-options"), "DENY", path);
    assert.not.match(await response.text(), "<script", path);
  }
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
