/**
 * Attacks on the last way to sign in, by users who have several and remove them one after another or at once.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { beforeNextCommit } from "../../store/test_meanwhile.ts";
import type { AuthorizationServerOptions } from "../authorization_server.ts";
import { newAuthenticator } from "../factors/test_authenticator.ts";
import { newFactorServer, optionsOf } from "../factors/test_factors.ts";
import { oidc } from "../sign_in/oidc.ts";
import { CLIENT, newProvider, PROVIDER } from "../sign_in/test_provider.ts";
import { ISSUER } from "../test_server.ts";

const test = suite("oauth/users/sign_in_ways");
const IDENTITY = { issuer: PROVIDER, subject: "248289" };
const REMOVE = "/account/factors/remove";
const UNLINK = "/account/providers";

/** A user who signed in at a provider first and then with a passkey, which is recent enough for every change. */
async function newUser(options: Partial<AuthorizationServerOptions> = {}) {
  const provider = await newProvider();
  const server = await newFactorServer({
    signIn: [oidc({ issuer: PROVIDER, ...CLIENT })],
    signInFetch: (url, init) => provider.fetch(url, init),
    ...options,
  });
  const { store } = server;
  const first = server.newBrowser();
  const signInAtProvider = async () => {
    const { location } = await first.get("/login/oidc?reauthenticate=1");
    const { pathname, search } = provider.authorize(location);
    await first.get(pathname + search);
  };
  await signInAtProvider();
  const { authenticator } = await first.addPasskey();
  const browser = server.newBrowser();
  const signIn = optionsOf((await browser.get("/login")).text);
  await browser.post("/login/passkey", { credential: await authenticator.get(signIn) });
  assert.ok(await browser.isSignedIn());
  const passkeys = async () => (await store.list(["passkey"])).length;
  const identities = async () => (await store.list(["user_identity"])).length;
  return { server, store, browser, id: authenticator.id, passkeys, identities };
}

test("attack: the last passkey of a user who unlinked the last provider is not removed", async () => {
  const { browser, id, passkeys } = await newUser();
  assert.is((await browser.post(UNLINK, IDENTITY)).status, 303);
  const refused = await browser.post(REMOVE, { id });
  assert.is(refused.status, 400);
  assert.match(refused.text, 'role="alert"');
  assert.is(await passkeys(), 1);
  // What the page says helps: another passkey.
  const another = await newAuthenticator(ISSUER);
  await browser.addPasskey(another);
  assert.is((await browser.post(REMOVE, { id })).status, 303);
  assert.is((await browser.post(REMOVE, { id: another.id })).status, 400);
  assert.is(await passkeys(), 1);
});

test("a user with a passkey alone links a provider again, sees the profile, and may be deleted", async () => {
  const { browser } = await newUser();
  await browser.post(UNLINK, IDENTITY);
  const list = await browser.get(UNLINK);
  assert.is(list.status, 200);
  assert.match(list.text, 'name="link"');
  assert.is((await browser.get("/account/profile")).status, 200);
  assert.is((await browser.post(UNLINK, { link: "oidc" })).status, 303);
  assert.is((await browser.post("/account/delete", { confirmation: "Jane Doe" })).status, 200);
});

test("the last provider of a user who removed the last passkey is not unlinked", async () => {
  const { browser, id, passkeys, identities } = await newUser();
  assert.is((await browser.post(REMOVE, { id })).status, 303);
  assert.is((await browser.post(UNLINK, IDENTITY)).status, 400);
  assert.equal([await passkeys(), await identities()], [0, 1]);
});

test("the last passkey is removed when there is a password, and not when the provider is gone", async () => {
  const server = await newFactorServer();
  const browser = server.newBrowser();
  const { authenticator } = await browser.addPasskey();
  assert.is((await browser.post(REMOVE, { id: authenticator.id })).status, 303);
  assert.is((await server.store.list(["passkey"])).length, 0);
  const user = await newUser();
  for (const { key, value } of await user.store.list<object>(["user_identity"])) {
    await user.store.commit({ set: [{ key, value: { ...value, provider: "removed" } }] });
  }
  assert.is((await user.browser.post(REMOVE, { id: user.id })).status, 400);
  assert.is(await user.passkeys(), 1);
});

test("a user of another system may remove the last passkey", async () => {
  const server = await newFactorServer({
    authenticateUser: () => Promise.resolve({ id: "one", name: "One", email: "" }),
  });
  const browser = server.newBrowser();
  const { authenticator } = await browser.addPasskey();
  assert.is((await browser.post(REMOVE, { id: authenticator.id })).status, 303);
  assert.is((await server.store.list(["passkey"])).length, 0);
});

test("attack: of the last passkey and the last provider, removed at once, one stays", async () => {
  for (const isPasskeyFirst of [true, false]) {
    const { store, browser, id, passkeys, identities } = await newUser();
    const remove = () => browser.post(REMOVE, { id });
    const unlink = () => browser.post(UNLINK, IDENTITY);
    const [first, second] = isPasskeyFirst ? [remove, unlink] : [unlink, remove];
    const removed = beforeNextCommit(store, async () => assert.is((await first()).status, 303));
    assert.is((await second()).status, 400);
    assert.ok(removed.isDone);
    assert.is(await passkeys() + await identities(), 1);
  }
});

test.run();
