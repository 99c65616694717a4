import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import type { ConsentView, DeviceConsentView } from "../pages/basic_views.ts";
import { completePages } from "../pages/settings.ts";
import type { View } from "../pages/views.ts";
import { APP_URI, CLIENTS, newServer, transactionOf } from "../test_server.ts";
import { addUser } from "../users/user.ts";

const test = suite("oauth/consent not you");
const DEVICE = "urn:ietf:params:oauth:grant-type:device_code";

async function newTwoUserServer() {
  const views: View[] = [];
  const server = await newServer({
    clients: [...CLIENTS, { id: "tv", grant_types: [DEVICE] } as const].map((client) => toClient(client, 0)),
    pages: completePages({ render: (view) => void views.push(view) }),
  });
  await addUser(server.store, { username: "bob", password: "builder of things", name: "Bob" }, 1000);
  return { server, views };
}

type Server = Awaited<ReturnType<typeof newTwoUserServer>>["server"];

async function signInAsBob(server: Server): Promise<string> {
  const form = { username: "bob", password: "builder of things" };
  const response = await server.send("/login", { form });
  return response.headers.get("set-cookie")!.split(";")[0]!;
}

/** The page for alice, and the button "Not you?" on it. */
async function openConsent(parameters: Record<string, string | undefined> = {}) {
  const { server, views } = await newTwoUserServer();
  const cookie = await server.signIn();
  const path = server.authorizePath(parameters);
  assert.is((await server.send(path, { headers: { cookie } })).status, 200);
  const { account } = views.at(-1) as ConsentView;
  return { server, views, cookie, path, account, action: account.switchAccount!.action };
}

test("signs the user out and leads back to the same request, which another user can answer", async () => {
  const { server, views, cookie, path, account, action } = await openConsent();
  assert.is(account.name, "Alice Liddell");
  const headers = { cookie, "sec-fetch-site": "same-origin", accept: "text/html" };
  // In a browser the cookie has the prefix.
  headers.cookie = `__Host-${cookie}`;
  const out = await server.send(action, { form: account.switchAccount!.hidden, headers });
  assert.equal([out.status, out.headers.get("location")], [303, path]);
  assert.match(out.headers.getSetCookie().join("\n"), /^__Host-session_id=;.*Max-Age=0/m);
  const back = await server.send(path, { headers: { cookie } });
  assert.equal([back.status, back.headers.get("location")], [
    302,
    `/login?redirect=${encodeURIComponent(path)}`,
  ]);
  const bob = await signInAsBob(server);
  const page = await server.send(path, { headers: { cookie: bob } });
  assert.is((views.at(-1) as ConsentView).account.name, "Bob");
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const done = await server.send("/oauth/authorize", { form, headers: { cookie: bob } });
  assert.ok(done.headers.get("location")!.startsWith(APP_URI + "?code="));
  assert.ok(server.events.some((event) => event.type === "logged_out"));
});

test("a pushed request can be answered by the other user", async () => {
  const { server, views } = await newTwoUserServer();
  const pushed = await server.send("/oauth/par", {
    form: {
      response_type: "code",
      client_id: "app",
      client_secret: "app secret:&%+",
      redirect_uri: APP_URI,
      scope: "read",
    },
  });
  const { request_uri } = await pushed.json();
  const path = `/oauth/authorize?client_id=app&request_uri=${encodeURIComponent(request_uri)}`;
  const cookie = await server.signIn();
  await server.send(path, { headers: { cookie } });
  const { action } = (views.at(-1) as ConsentView).account.switchAccount!;
  const out = await server.send(action, { form: {}, headers: { cookie } });
  const page = await server.send(out.headers.get("location")!, {
    headers: { cookie: await signInAsBob(server) },
  });
  assert.is(page.status, 200);
  assert.is((views.at(-1) as ConsentView).account.name, "Bob");
});

test("the page of a device has it too, and keeps the code", async () => {
  const { server, views } = await newTwoUserServer();
  const start = await server.send("/oauth/device_authorization", {
    form: { client_id: "tv", scope: "read" },
  });
  const { user_code } = await start.json();
  const cookie = await server.signIn();
  await server.send("/device", { form: { user_code }, headers: { cookie } });
  const { account, userCode } = views.at(-1) as DeviceConsentView;
  assert.is(userCode, user_code);
  const out = await server.send(account.switchAccount!.action, { form: {}, headers: { cookie } });
  assert.is(out.headers.get("location"), `/device?user_code=${user_code}`);
});

test("another site cannot sign the user out with it", async () => {
  const { server, cookie, path, action } = await openConsent();
  for (const headers of [{ "sec-fetch-site": "cross-site" }, { origin: "https://evil.example" }]) {
    const refused = await server.send(action, { form: {}, headers: { ...headers, cookie } });
    assert.is(refused.status, 403);
  }
  assert.is((await server.send(path, { headers: { cookie } })).status, 200, "still signed in");
});

test("it leads to paths of this server only, and an invalid one signs no one out", async () => {
  const { server, cookie, path } = await openConsent();
  for (
    const redirect of ["https://evil.example/", "//evil.example/", "/\\evil.example", "javascript:alert(1)"]
  ) {
    const out = await server.send(`/logout?redirect=${encodeURIComponent(redirect)}`, {
      form: {},
      headers: { cookie },
    });
    assert.equal([out.status, out.headers.get("location")], [400, null], redirect);
  }
  assert.is((await server.send(path, { headers: { cookie } })).status, 200, "still signed in");
});

test.run();
