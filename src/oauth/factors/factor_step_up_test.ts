import { suite } from "uvu";
import * as assert from "uvu/assert";
import { completeOpenId, OPENID_SCOPES } from "../openid/options.ts";
import { readJws } from "../../crypto/jws.ts";
import { beforeNextCommit } from "../../store/test_meanwhile.ts";
import { APP_URI, transactionOf } from "../test_server.ts";
import { listUsers } from "../users/user.ts";
import { endUserSession, endUserSessions, listUserSessions } from "../users/user_sessions.ts";
import { type Browser, type FactorServer, newFactorServer, optionsOf } from "./test_factors.ts";

const test = suite("oauth/factors/factor_step_up");
const OPENID = {
  openid: completeOpenId(true),
  signingAlgorithms: ["RS256"] as const,
  scopes: { ...OPENID_SCOPES, read: "Read your data" },
};

/** The claims of the ID token that a signed-in browser gets for this request. */
async function idTokenClaims(
  server: FactorServer,
  browser: Browser,
  parameters: Record<string, string> = {},
) {
  const page = await browser.get(server.authorizePath({ scope: "openid", prompt: "consent", ...parameters }));
  const form = { transaction: transactionOf(page.text), decision: "approve" };
  const { location } = await browser.post("/oauth/authorize", form);
  const code = new URL(location).searchParams.get("code")!;
  const response = await server.token({ grant_type: "authorization_code", code, redirect_uri: APP_URI });
  const { id_token } = await response.json();
  const { acr, amr, auth_time } = readJws(id_token)!.claims;
  return { acr, amr, auth_time: auth_time as number };
}

/** Sends the code in the form at this location. */
async function enterCode(browser: Browser, location: string, code: string): Promise<string> {
  return (await browser.post(location, { code })).location;
}

test("a client that asks for mfa leads a session with a factor to the second step only, and back", async () => {
  const server = await newFactorServer(OPENID);
  const browser = server.newBrowser();
  // The session began before the app was set up.
  const { secret } = await browser.addTotp();
  assert.equal((await idTokenClaims(server, browser)).acr, "password");
  const before = (await idTokenClaims(server, browser)).auth_time;
  server.advance(100);
  const path = server.authorizePath({ scope: "openid", acr_values: "mfa" });
  const { location } = await browser.get(path);
  assert.is(location, `/login/factor?step_up=1&redirect=${encodeURIComponent(path)}`);
  assert.is((await browser.get(location)).status, 200);
  assert.is((await browser.post(location, { code: "000000" })).status, 401);
  assert.is(await enterCode(browser, location, await server.codeOf(secret)), path);
  const claims = await idTokenClaims(server, browser, { acr_values: "mfa" });
  assert.equal([claims.acr, claims.amr], ["mfa", ["pwd", "otp", "mfa"]]);
  // The password is as old as before, for max_age.
  assert.is(claims.auth_time, before);
  assert.match((await browser.get(server.authorizePath({ max_age: "50" }))).location, /^\/login\?/);
});

test("the second step of a step-up is of the user of the session", async () => {
  const server = await newFactorServer(OPENID);
  const browser = server.newBrowser();
  await browser.addTotp();
  const other = server.newBrowser();
  assert.match((await other.get("/login/factor?step_up=1&redirect=%2Fdevice")).location, "/device");
  assert.match((await other.post("/login/factor?step_up=1", { code: "000000" })).location, "/login");
});

test("a session that ends during its step-up stays ended, by a logout or from another session", async () => {
  const ends: Record<string, (server: FactorServer, browser: Browser) => Promise<unknown>> = {
    logout: (_, browser) => browser.post("/logout", {}),
    one: async ({ store }) => {
      const [user] = await Array.fromAsync(listUsers(store));
      const [session] = await listUserSessions(store, user!.id);
      assert.is(await endUserSession(store, user!.id, session!.id), true);
    },
  };
  for (const [name, end] of Object.entries(ends)) {
    const server = await newFactorServer(OPENID);
    const browser = server.newBrowser();
    const { secret } = await browser.addTotp();
    server.advance(100);
    const path = server.authorizePath({ scope: "openid", acr_values: "mfa" });
    const { location } = await browser.get(path);
    const other = server.newBrowser();
    for (const [name, value] of browser.cookies) other.cookies.set(name, value);
    const code = await server.codeOf(secret);
    const ended = beforeNextCommit(server.store, () => end(server, other));
    const { status } = await browser.post(location, { code });
    assert.equal([ended.isDone, status], [true, 403], name);
    assert.is((await server.store.list(["session"])).length, 0, name);
    assert.is(await browser.isSignedIn(), false, name);
  }
});

test("a session that was stepped up while it was ended from elsewhere ends as well", async () => {
  for (const name of ["one", "all"]) {
    const server = await newFactorServer(OPENID);
    const { store } = server;
    const browser = server.newBrowser();
    const { secret } = await browser.addTotp();
    const [user] = await Array.fromAsync(listUsers(store));
    const [session] = await listUserSessions(store, user!.id);
    server.advance(100);
    const { location } = await browser.get(server.authorizePath({ scope: "openid", acr_values: "mfa" }));
    const code = await server.codeOf(secret);
    const { commit } = store;
    let isStronger = false;
    Object.assign(store, {
      async commit(...call: Parameters<typeof commit>) {
        if (call[0].remove?.some(([kind]) => kind === "session")) {
          Object.assign(store, { commit });
          server.advance(1);
          isStronger = (await browser.post(location, { code })).status === 302;
        }
        return await commit.apply(store, call);
      },
    });
    if (name === "all") assert.is(await endUserSessions(store, user!.id), 1);
    else assert.is(await endUserSession(store, user!.id, session!.id), true);
    assert.is(isStronger, true, name);
    assert.equal(await store.list(["session"]), [], name);
    assert.equal(await store.list(["user_session"]), [], name);
    assert.not(await browser.isSignedIn(), name);
  }
});

test("an essential acr of the claims parameter leads to the second step, too", async () => {
  const server = await newFactorServer(OPENID);
  const browser = server.newBrowser();
  await browser.addTotp();
  const claims = JSON.stringify({ id_token: { acr: { essential: true, values: ["mfa"] } } });
  const { location } = await browser.get(server.authorizePath({ scope: "openid", claims }));
  assert.match(location, /^\/login\/factor\?step_up=1/);
});

test("prompt=none and a missing second factor: an error, no page", async () => {
  const server = await newFactorServer(OPENID);
  const browser = server.newBrowser();
  await browser.addTotp();
  const { location } = await browser.get(server.authorizePath({ acr_values: "mfa", prompt: "none" }));
  assert.ok(["login_required", "unmet_authentication_requirements"].includes(
    new URL(location).searchParams.get("error")!,
  ));
});

test("a user without a factor: unmet_authentication_requirements after a new login", async () => {
  const server = await newFactorServer(OPENID);
  const browser = server.newBrowser();
  await browser.enterPassword();
  const { location } = await browser.get(server.authorizePath({ acr_values: "mfa" }));
  assert.match(location, /^\/login\?redirect=/);
  const redirect = new URLSearchParams(location.split("?")[1]).get("redirect")!;
  await browser.enterPassword(undefined, redirect);
  const answer = new URL((await browser.get(redirect)).location).searchParams;
  assert.is(answer.get("error"), "unmet_authentication_requirements");
});

test("a login with two factors satisfies a client that asks for the password, and is reported as that class", async () => {
  const server = await newFactorServer(OPENID);
  const { codes } = await server.newBrowser().addTotp();
  const browser = server.newBrowser();
  const { location } = await browser.enterPassword();
  assert.is(await enterCode(browser, location, codes[0]!), "/device");
  const asked = await idTokenClaims(server, browser, { acr_values: "password" });
  assert.equal([asked.acr, asked.amr], ["password", ["pwd", "mfa"]]);
  const plain = await idTokenClaims(server, browser);
  assert.equal([plain.acr, plain.amr], ["mfa", ["pwd", "mfa"]]);
});

test("a passkey that verified its user is mfa by itself", async () => {
  const server = await newFactorServer(OPENID);
  const { authenticator } = await server.newBrowser().addPasskey();
  const browser = server.newBrowser();
  const credential = await authenticator.get(optionsOf((await browser.get("/login")).text));
  await browser.post("/login/passkey", { credential });
  const claims = await idTokenClaims(server, browser, { acr_values: "mfa" });
  assert.equal([claims.acr, claims.amr], ["mfa", ["pop", "user", "mfa"]]);
});

test("a required new login asks for both factors, and its time is that of the password", async () => {
  const server = await newFactorServer(OPENID);
  const browser = server.newBrowser();
  const { secret } = await browser.addTotp();
  server.advance(60);
  const { location } = await browser.get(server.authorizePath({ scope: "openid", prompt: "login" }));
  const redirect = new URLSearchParams(location.split("?")[1]).get("redirect")!;
  server.advance(1);
  const second = await browser.enterPassword(undefined, redirect);
  assert.match(second.location, /^\/login\/factor\?redirect=/);
  // The session of before does not suffice meanwhile.
  assert.match((await browser.get(redirect)).location, /^\/login\?redirect=/);
  server.advance(100);
  assert.is(await enterCode(browser, second.location, await server.codeOf(secret)), redirect);
  assert.is((await browser.get(redirect)).status, 200);
  assert.match((await browser.get(server.authorizePath({ max_age: "90" }))).location, /^\/login\?/);
  assert.is((await browser.get(server.authorizePath({ max_age: "110" }))).status, 200);
});

test("the class has the name of the option, and the metadata advertises it", async () => {
  const factors = { passkeys: undefined, totp: true, acr: "urn:example:two", hasAccount: true };
  const server = await newFactorServer({ ...OPENID, factors, acrValues: ["password", "urn:example:two"] });
  const browser = server.newBrowser();
  await browser.addTotp();
  const { location } = await browser.get(server.authorizePath({ acr_values: "urn:example:two" }));
  assert.match(location, /step_up=1/);
  const metadata = await (await server.send("/.well-known/oauth-authorization-server")).json();
  assert.equal(metadata.acr_values_supported, ["password", "urn:example:two"]);
});

test.run();
