import { suite } from "uvu";
import * as assert from "uvu/assert";
import { github } from "../sign_in/github.ts";
import { CLIENT, newBrowser, newProvider, newSignInServer, signIn } from "../sign_in/test_provider.ts";
import { newServer } from "../test_server.ts";
import { needsRecentLogin, RECENT_LOGIN_MS, redirectToRecentLogin } from "./recent_login.ts";

const test = suite("oauth/users/recent_login");
const AGAIN = "/login?redirect=%2Faccount%2Femail&reauthenticate=1";

/** Whether a session needs a new login that began at this time, of which the user's login is known to be as old as `since`. */
function isNeeded(began: number, acr = "password", since = began): Promise<boolean> {
  const providers = new Map([["github", { asksAgain: false }], ["oidc", {}]]);
  const server = {
    now: () => 1_000_000_000_000,
    factors: { acr: "mfa" },
    providers: { find: (id: string) => Promise.resolve(providers.get(id)) },
  };
  const authentication = { auth_time: Math.floor(began / 1000), acr };
  return needsRecentLogin(server as never, { authentication, since });
}

test("a login is recent for ten minutes", async () => {
  const now = 1_000_000_000_000;
  assert.is(await isNeeded(now - RECENT_LOGIN_MS + 1000), false);
  assert.is(await isNeeded(now - RECENT_LOGIN_MS), true);
});

test("a session of a provider that does not say when the user signed in there is not a recent login", async () => {
  const now = 1_000_000_000_000;
  assert.is(await isNeeded(now, "oidc", 0), true);
  assert.is(await isNeeded(now, "removed", 0), true);
  assert.is(await isNeeded(now, "oidc"), false);
  assert.is(await isNeeded(now, "github", 0), false, "it cannot be asked again");
  assert.is(await isNeeded(now, "mfa", 0), false, "the second factor was checked here");
});

test("the redirect leads to the login page and back", () => {
  const response = redirectToRecentLogin({ base: "/tenant" } as never, "/account/email");
  assert.is(response.status, 303);
  assert.is(
    response.headers.get("location"),
    "/tenant/login?redirect=%2Ftenant%2Faccount%2Femail&reauthenticate=1",
  );
});

test("the login page names the user who is to sign in again, also after a wrong password", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  const page = await (await server.send(AGAIN, { headers: { cookie } })).text();
  assert.match(page, 'value="alice"');
  assert.match(page, `action="${AGAIN.replace("&", "&amp;")}"`);
  const form = { username: "alice", password: "wrong" };
  const again = await server.send(AGAIN, { form, headers: { cookie, accept: "text/html" } });
  assert.is(again.status, 401);
  assert.match(await again.text(), 'value="alice"');
  const without = await (await server.send(AGAIN.replace("&reauthenticate=1", ""), { headers: { cookie } }))
    .text();
  assert.not.match(without, 'value="alice"');
  const done = await server.send(AGAIN, {
    form: { username: "alice", password: "wonderland" },
    headers: { cookie },
  });
  assert.is(done.headers.get("location"), "/account/email");
});

test("a provider that can is asked for a new login", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  assert.match(
    await (await server.send(AGAIN)).text(),
    'href="/login/oidc?redirect=%2Faccount%2Femail&amp;reauthenticate=1"',
  );
  const browser = newBrowser(server);
  const path = AGAIN.replace("/login", "/login/oidc");
  const begun = await browser.get(path);
  const query = new URL(begun.headers.get("location")!).searchParams;
  assert.equal([query.get("prompt"), query.get("max_age")], ["login", "0"]);
  // It did not ask the user to sign in.
  provider.idToken["auth_time"] = 1;
  assert.is((await signIn(browser, provider, path)).status, 403);
  delete provider.idToken["auth_time"];
  assert.is((await signIn(browser, provider, path)).status, 302);
});

test("attack: signing in at a provider without reauthenticate=1 is no recent login", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  const path = AGAIN.replace("/login", "/login/oidc").replace("email", "delete");
  // The provider has a session of its own, and answers without asking the user.
  assert.is((await signIn(browser, provider, path.replace("&reauthenticate=1", ""))).status, 302);
  const refused = await browser.get("/account/delete");
  assert.equal([refused.status, refused.headers.get("location")], [
    303,
    "/login?redirect=%2Faccount%2Fdelete&reauthenticate=1",
  ]);
  assert.is((await signIn(browser, provider, path)).status, 302);
  assert.is((await browser.get("/account/delete")).status, 200);
});

test("at a provider that cannot, a new sign-in is all that is asked for", async () => {
  const server = await newServer({ signIn: [github({ ...CLIENT })] });
  const begun = await server.send(AGAIN.replace("/login", "/login/github"));
  assert.not(new URL(begun.headers.get("location")!).searchParams.has("prompt"));
});

test.run();
