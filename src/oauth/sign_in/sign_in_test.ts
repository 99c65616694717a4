import { suite } from "uvu";
import * as assert from "uvu/assert";
import { newKey } from "../test_keys.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { findLinkedUser, listLinkedUsers } from "./linked_account.ts";
import { removeUser } from "../users/remove_user.ts";
import { lockUser, unlockUser } from "../users/user_changes.ts";
import { oidc } from "./oidc.ts";
import {
  CLIENT,
  newBrowser,
  newProvider,
  newSignInServer,
  PROVIDER,
  signIn,
  type TestProvider,
} from "./test_provider.ts";

const test = suite("oauth/sign_in");

test("the login page has a link for each provider, which keeps redirect", async () => {
  const server = await newSignInServer(await newProvider());
  const page = await (await server.send("/login?redirect=%2Fdevice%3Fa%3D1")).text();
  assert.match(page, 'href="/login/oidc?redirect=%2Fdevice%3Fa%3D1"');
  assert.match(page, 'name="password"');
});

test("a user signs in at the provider and returns to redirect", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  const begun = await browser.get("/login/oidc?redirect=" + encodeURIComponent(server.authorizePath()));
  const asked = new URL(begun.headers.get("location")!);
  assert.is(asked.origin + asked.pathname, `${PROVIDER}/authorize`);
  const { state, nonce, code_challenge, ...rest } = Object.fromEntries(asked.searchParams);
  for (const each of [state, nonce, code_challenge]) assert.match(each!, /^[A-Za-z0-9_-]{43}$/);
  assert.equal(rest, {
    response_type: "code",
    client_id: "trivet",
    redirect_uri: "https://as.example/login/oidc/callback",
    scope: "openid profile email",
    code_challenge_method: "S256",
  });
  const done = await browser.get(provider.authorize(asked.href).href);
  assert.is(done.status, 302);
  assert.is(done.headers.get("location"), server.authorizePath());
  const consent = await browser.get(server.authorizePath());
  assert.is(consent.status, 200);
  assert.match(await consent.text(), "The App");
  const [user] = await Array.fromAsync(listLinkedUsers(server.store));
  const { id, ...linked } = user!;
  assert.match(id, /^user_/);
  assert.equal(linked, {
    name: "Jane Doe",
    email: "jane@example.com",
    email_verified: true,
    provider: "oidc",
    issuer: PROVIDER,
    subject: "248289",
  });
  assert.equal(
    server.events.filter(({ type }) => type === "login_succeeded").map((event) =>
      "provider" in event && event.provider
    ),
    ["oidc"],
  );
});

test("the same identity is the same user; another subject or another issuer is another", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const ids = async () => (await Array.fromAsync(listLinkedUsers(server.store))).map(({ id }) => id);
  await signIn(newBrowser(server), provider);
  await signIn(newBrowser(server), provider);
  assert.is((await ids()).length, 1);
  // The same verified address: it is no identity.
  provider.claims["sub"] = "another";
  await signIn(newBrowser(server), provider);
  assert.is(new Set(await ids()).size, 2);
  const other = await newProvider("https://other.example");
  const second = await newSignInServer(other, [oidc({ issuer: "https://other.example", ...CLIENT })]);
  await signIn(newBrowser(second), other);
  assert.is((await Array.fromAsync(listLinkedUsers(second.store)))[0]!.issuer, "https://other.example");
});

test("two first sign-ins at once make one user", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const done = await Promise.all(Array.from({ length: 8 }, () => signIn(newBrowser(server), provider)));
  assert.equal(done.map(({ status }) => status), Array(8).fill(302));
  assert.is((await Array.fromAsync(listLinkedUsers(server.store))).length, 1);
});

test("of concurrent first sign-ins each finds the same user", async () => {
  const store = memoryStore();
  const identity = { issuer: PROVIDER, subject: "1", emailVerified: false, groups: [], claims: {} };
  const users = await Promise.all(
    Array.from(
      { length: 8 },
      () => findLinkedUser(store, identity, { provider: "oidc", role: undefined, now: 0 }),
    ),
  );
  assert.is(new Set(users.map(({ id }) => id)).size, 1);
});

test("a removed user is signed out, and is another user at the next sign-in", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  await signIn(browser, provider);
  const [before] = await Array.fromAsync(listLinkedUsers(server.store));
  assert.is(await removeUser(server.store, before!.id), true);
  assert.is(await removeUser(server.store, before!.id), false);
  assert.match((await browser.get("/device")).headers.get("location")!, /^\/login/);
  await signIn(browser, provider);
  const [after] = await Array.fromAsync(listLinkedUsers(server.store));
  assert.is.not(after!.id, before!.id);
});

test("a locked user may not sign in at the provider, and becomes no other user", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  await signIn(browser, provider);
  const [before] = await Array.fromAsync(listLinkedUsers(server.store));
  assert.is(await lockUser(server.store, before!.id), true);
  assert.match((await browser.get("/device")).headers.get("location")!, /^\/login/);
  provider.claims = { ...provider.claims, name: "Another Name" };
  const response = await signIn(newBrowser(server), provider);
  assert.is(response.status, 403);
  assert.is(/session_id=./.test(response.headers.get("set-cookie") ?? ""), false);
  assert.equal((await Array.fromAsync(listLinkedUsers(server.store))).map(({ id }) => id), [before!.id]);
  await unlockUser(server.store, before!.id);
  assert.is((await signIn(newBrowser(server), provider)).status, 302);
});

const REFUSED: Record<string, (provider: TestProvider) => unknown> = {
  "ID token of another issuer": (each) => each.idToken["iss"] = "https://evil.example",
  "ID token for another client": (each) => each.idToken["aud"] = "other",
  "ID token for several clients without azp": (each) => each.idToken["aud"] = ["trivet", "other"],
  "ID token with azp of another client": (each) => each.idToken["azp"] = "other",
  "ID token without sub": (each) => each.idToken["sub"] = undefined,
  "ID token with an empty sub": (each) => each.idToken["sub"] = "",
  "ID token with a sub that is no string": (each) => each.idToken["sub"] = 7,
  "expired ID token": (each) => each.idToken["exp"] = Math.floor(Date.now() / 1000) - 61,
  "ID token without exp": (each) => each.idToken["exp"] = undefined,
  "ID token of the future": (each) => each.idToken["iat"] = Math.floor(Date.now() / 1000) + 120,
  "ID token with another nonce (replay)": (each) => each.idToken["nonce"] = "another",
  "ID token without nonce": (each) => each.idToken["nonce"] = undefined,
  "ID token with the at_hash of another access token": (each) =>
    each.idToken["at_hash"] = "AAAAAAAAAAAAAAAAAAAAAA",
  "ID token with alg none": (each) => each.header["alg"] = "none",
  "ID token with alg HS256": (each) => each.header["alg"] = "HS256",
  "ID token with an unknown key id": (each) => each.header["kid"] = "second",
  "no ID token": (each) => each.tokens["id_token"] = undefined,
  "access token of another type": (each) => each.tokens["token_type"] = "mac",
  "UserInfo of another user": (each) => {
    each.claims = { sub: "248289" };
    each.userInfo = { sub: "another", email: "boss@example.com", email_verified: true };
  },
  "callback with iss of another provider (mix-up)": (each) => each.callback["iss"] = "https://evil.example",
  "callback without iss from a provider that sends it": (each) =>
    each.metadata["authorization_response_iss_parameter_supported"] = true,
  "callback with an error": (each) => each.callback = { error: "invalid_request", code: undefined },
  "callback without code": (each) => each.callback["code"] = undefined,
};
for (const [name, change] of Object.entries(REFUSED)) {
  test(`refused: ${name}`, async () => {
    const provider = await newProvider();
    const server = await newSignInServer(provider);
    change(provider);
    const browser = newBrowser(server);
    const response = await signIn(browser, provider);
    assert.is(response.status, 403);
    assert.is(
      response.headers.has("set-cookie") && /session_id=./.test(response.headers.get("set-cookie")!),
      false,
    );
    assert.match((await browser.get("/device")).headers.get("location")!, /^\/login/);
    assert.is(server.events.filter(({ type }) => type === "sign_in_failed").length, 1);
    assert.is((await Array.fromAsync(listLinkedUsers(server.store))).length, 0);
  });
}

for (const error of ["server_error", "temporarily_unavailable"]) {
  test(`a provider that answers ${error} is one that does not respond`, async () => {
    const provider = await newProvider();
    const server = await newSignInServer(provider);
    provider.callback = { error, code: undefined };
    assert.is((await signIn(newBrowser(server), provider)).status, 502);
  });
}

test("refused: an ID token that another key signed under the same key id", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const published = provider.key;
  provider.answers.set(`${PROVIDER}/keys`, () => Response.json({ keys: [published.jwk] }));
  provider.key = await newKey("RS256", "first");
  assert.is((await signIn(newBrowser(server), provider)).status, 403);
});

test("only the browser that began a sign-in can finish it, and once", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const [victim, attacker] = [newBrowser(server), newBrowser(server)];
  const begun = await attacker.get("/login/oidc");
  const callback = provider.authorize(begun.headers.get("location")!).href;
  // Login CSRF: the attacker's answer in the browser of the victim.
  assert.is((await victim.get(callback)).status, 400);
  await victim.get("/login/oidc");
  assert.is((await victim.get(callback)).status, 400);
  assert.is((await attacker.get(callback)).status, 200);
  assert.is((await attacker.get(callback)).status, 400);
});

test("a state that only begins like that of a sign-in is another", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  const callback = provider.authorize((await browser.get("/login/oidc")).headers.get("location")!);
  const state = callback.searchParams.get("state")!;
  callback.searchParams.set("state", state.slice(0, 8));
  assert.is((await browser.get(callback.href)).status, 400);
});

test("a callback counts for the provider at which the sign-in began", async () => {
  const provider = await newProvider();
  const two = [oidc({ issuer: PROVIDER, ...CLIENT }), oidc({ issuer: PROVIDER, ...CLIENT, id: "two" })];
  const server = await newSignInServer(provider, two);
  const browser = newBrowser(server);
  const begun = await browser.get("/login/oidc");
  const callback = provider.authorize(begun.headers.get("location")!);
  callback.pathname = "/login/two/callback";
  assert.is((await browser.get(callback.href)).status, 400);
});

test("a sign-in can be finished for ten minutes", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  const begun = await browser.get("/login/oidc");
  server.advance(601);
  assert.is((await browser.get(provider.authorize(begun.headers.get("location")!).href)).status, 400);
});

test("sign-ins in two tabs do not disturb each other", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  const tabs = [
    await browser.get("/login/oidc?redirect=%2Fa"),
    await browser.get("/login/oidc?redirect=%2Fb"),
  ];
  const done = [];
  for (const tab of tabs) done.push(await browser.get(provider.authorize(tab.headers.get("location")!).href));
  assert.equal(done.map(({ headers }) => headers.get("location")), ["/a", "/b"]);
});

test("a user who cancels at the provider returns to the login page", async () => {
  const provider = await newProvider();
  provider.callback = { error: "access_denied", code: undefined };
  const server = await newSignInServer(provider);
  const response = await signIn(newBrowser(server), provider);
  assert.is(response.status, 400);
  assert.match(await response.text(), 'href="/login?redirect=%2Fdevice"');
});

test("a provider that does not answer as it should: 502, and no secret in page or event", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  for (
    const url of [`${PROVIDER}/token`, `${PROVIDER}/keys`, `${PROVIDER}/.well-known/openid-configuration`]
  ) {
    provider.answers.set(url, () => new Response("client_secret=s:e%c+r&t", { status: 500 }));
  }
  const response = await newBrowser(server).get("/login/oidc");
  assert.is(response.status, 502);
  const shown = await response.text() + JSON.stringify(server.events);
  assert.is(/s:e%c|s%3Ae/.test(shown), false);
});

test("unknown provider, invalid redirect, repeated parameter", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  assert.is((await browser.get("/login/unknown")).status, 404);
  assert.is((await browser.get("/login/unknown/callback?code=a&state=b")).status, 404);
  assert.is((await browser.get("/login/oidc?redirect=https%3A%2F%2Fevil.example%2F")).status, 400);
  assert.is((await browser.get(`/login/oidc?redirect=%2F${"a".repeat(2000)}`)).status, 400);
  const begun = await browser.get("/login/oidc");
  const callback = provider.authorize(begun.headers.get("location")!).href;
  assert.is((await browser.get(`${callback}&code=another`)).status, 400);
});

test("without providers there is no such route", async () => {
  const server = await newSignInServer(await newProvider(), []);
  assert.is((await server.send("/login/oidc")).status, 404);
});

test("a client that demands a new login gets one that the provider confirms", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  await signIn(browser, provider);
  const path = server.authorizePath({ prompt: "login" });
  const login = (await browser.get(path)).headers.get("location")!;
  const begun = await browser.get(login.replace("/login?", "/login/oidc?"));
  const asked = new URL(begun.headers.get("location")!).searchParams;
  assert.equal([asked.get("prompt"), asked.get("max_age")], ["login", "0"]);
  const done = await browser.get(provider.authorize(begun.headers.get("location")!).href);
  assert.is((await browser.get(done.headers.get("location")!)).status, 200);
});

test("a provider that ignores the demand for a new login is refused, and a silent sign-in does not meet it", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  const browser = newBrowser(server);
  provider.claims["auth_time"] = Math.floor(Date.now() / 1000) - 3600;
  await signIn(browser, provider);
  const login = (await browser.get(server.authorizePath({ max_age: "60" }))).headers.get("location")!;
  assert.match(login, /^\/login\?/);
  const begun = await browser.get(login.replace("/login?", "/login/oidc?"));
  assert.is((await browser.get(provider.authorize(begun.headers.get("location")!).href)).status, 403);
  // Without the redirect the provider is not asked for a new login: the session stays as old as it says.
  await signIn(browser, provider, "/login/oidc");
  const query = new URL(login, "https://as.example").searchParams.get("redirect")!;
  assert.match((await browser.get(query)).headers.get("location")!, /^\/login\?/);
});

test.run();
