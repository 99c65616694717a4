import { suite } from "uvu";
import * as assert from "uvu/assert";
import {
  CLIENT,
  newBrowser,
  newProvider,
  PROVIDER,
  signIn,
  type TestBrowser,
  type TestProvider,
} from "../sign_in/test_provider.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { slowCommits } from "../../store/test_slow_commits.ts";
import { oidc } from "../sign_in/oidc.ts";
import { listLinkedUsers } from "../sign_in/linked_account.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { inviteUser, listInvitations } from "./invitation.ts";
import type { SignUpMode } from "./options.ts";

const test = suite("oauth/new_identity");

async function newSignUpServer(
  providers: SignUpMode,
  passwords: SignUpMode = "closed",
): Promise<{ server: TestServer; provider: TestProvider }> {
  const provider = await newProvider();
  const server = await newServer({
    signIn: [oidc({ issuer: PROVIDER, ...CLIENT })],
    signInFetch: (url, init) => provider.fetch(url, init),
    signUp: { passwords, providers },
    store: slowCommits(memoryStore()),
  });
  return { server, provider };
}

async function openInvitation(browser: TestBrowser, token: string): Promise<Response> {
  assert.is((await browser.get(`/login/invitation?token=${token}`)).status, 303);
  return await browser.get("/login/sign-up?redirect=%2Fdevice");
}

const count = async ({ store }: TestServer) => (await Array.fromAsync(listLinkedUsers(store))).length;
const left = async ({ store }: TestServer) => (await Array.fromAsync(listInvitations(store))).length;

test("open: every admitted identity gets an account, and an event says so once", async () => {
  const { server, provider } = await newSignUpServer("open");
  assert.is((await signIn(newBrowser(server), provider)).status, 302);
  assert.is((await signIn(newBrowser(server), provider)).status, 302);
  assert.is(await count(server), 1);
  const events = server.events.filter(({ type }) => type === "user_registered");
  assert.is(events.length, 1);
  assert.match(JSON.stringify(events), '"provider":"oidc"');
});

test("open: an invitation that is there is used, for its role", async () => {
  const { server, provider } = await newSignUpServer("open", "invitation");
  const { token } = await inviteUser(server.store, { role: "author" });
  const browser = newBrowser(server);
  await openInvitation(browser, token);
  assert.is((await signIn(browser, provider)).status, 302);
  assert.is((await Array.fromAsync(listLinkedUsers(server.store)))[0]!.role, "author");
  assert.is(await left(server), 0);
});

test("closed: an identity without an account gets none, and one with an account signs in", async () => {
  const { server, provider } = await newSignUpServer("closed");
  assert.is((await signIn(newBrowser(server), provider)).status, 403);
  assert.is(await count(server), 0);
  const withPage = await newSignUpServer("closed", "invitation");
  const browser = newBrowser(withPage.server);
  await openInvitation(browser, (await inviteUser(withPage.server.store)).token);
  assert.is((await signIn(browser, withPage.provider)).status, 403);
});

test("by invitation: the pending sign-in carries it, the account has its role, and it is used up", async () => {
  const { server, provider } = await newSignUpServer("invitation");
  assert.is((await signIn(newBrowser(server), provider)).status, 403, "without an invitation");
  const { token } = await inviteUser(server.store, { role: "author" });
  const browser = newBrowser(server);
  const page = await (await openInvitation(browser, token)).text();
  assert.match(page, "/login/oidc?redirect=%2Fdevice");
  assert.not.match(page, 'type="password"');
  const response = await signIn(browser, provider);
  assert.equal([response.status, response.headers.get("location")], [302, "/device"]);
  const [user] = await Array.fromAsync(listLinkedUsers(server.store));
  assert.is(user!.role, "author");
  assert.is(await left(server), 0);
  // The role stays at the next sign-in, which needs no invitation.
  assert.is((await signIn(newBrowser(server), provider)).status, 302);
  assert.is((await Array.fromAsync(listLinkedUsers(server.store)))[0]!.role, "author");
  provider.claims = { ...provider.claims, sub: "another" };
  const again = newBrowser(server);
  await openInvitation(again, token);
  assert.is((await signIn(again, provider)).status, 403);
  assert.is(await count(server), 1);
});

test("concurrent sign-ins of several identities with one invitation make one account", async () => {
  const { server, provider } = await newSignUpServer("invitation");
  const { token } = await inviteUser(server.store);
  const callbacks: (() => Promise<Response>)[] = [];
  for (let i = 0; i < 4; i++) {
    const browser = newBrowser(server);
    await openInvitation(browser, token);
    const begun = await browser.get("/login/oidc");
    const callback = provider.authorize(begun.headers.get("location")!).href;
    callbacks.push(() => browser.get(callback));
  }
  // Each answer of the provider names another user.
  let subject = 0;
  const claims = provider.claims;
  Object.defineProperty(provider, "claims", { get: () => ({ ...claims, sub: `user-${subject++}` }) });
  const responses = await Promise.all(callbacks.map((each) => each()));
  assert.is(responses.filter(({ status }) => status === 403).length, 3);
  assert.is(await count(server), 1);
});

test("an invitation for an address is only for an identity whose provider verified that address", async () => {
  for (
    const [claims, status] of [
      [{ email: "jane@example.com", email_verified: true }, 302],
      [{ email: "JANE@example.com", email_verified: true }, 302],
      [{ email: "jane@example.com", email_verified: false }, 403],
      [{ email: "eve@example.com", email_verified: true }, 403],
      [{ email: undefined, email_verified: undefined }, 403],
    ] as const
  ) {
    const { server, provider } = await newSignUpServer("invitation");
    const { token } = await inviteUser(server.store, { email: "jane@example.com" });
    provider.claims = { ...provider.claims, ...claims };
    const browser = newBrowser(server);
    await openInvitation(browser, token);
    assert.is((await signIn(browser, provider)).status, status, JSON.stringify(claims));
    assert.is(await left(server), status === 302 ? 0 : 1);
  }
});

test("an identity that has an account leaves the invitation for another", async () => {
  const { server, provider } = await newSignUpServer("invitation");
  const first = newBrowser(server);
  await openInvitation(first, (await inviteUser(server.store)).token);
  assert.is((await signIn(first, provider)).status, 302);
  const second = newBrowser(server);
  await openInvitation(second, (await inviteUser(server.store)).token);
  assert.is((await signIn(second, provider)).status, 302);
  assert.equal([await count(server), await left(server)], [1, 1]);
});

test("a provider cannot have the id of a page", async () => {
  for (const id of ["forgot", "reset", "sign-up", "invitation", "verify-email", "factor", "passkey"]) {
    const error = await newServer({ signIn: [oidc({ id, issuer: PROVIDER, ...CLIENT })] }).catch((error) =>
      error
    );
    assert.instance(error, TypeError, id);
  }
});

test.run();
