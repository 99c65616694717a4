/**
 * Groups of a provider decide on scopes: who lacks the group cannot grant the scope, and what was granted before ends with
 * the group.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toClient } from "../clients/client.ts";
import { APP_URI, newServer, type TestServer, transactionOf } from "../test_server.ts";
import { limitToRole } from "../users/user_role.ts";
import { saveProfile } from "../users/user.ts";
import { listLinkedUsers } from "./linked_account.ts";
import { oidc } from "./oidc.ts";
import { CLIENT, newBrowser, newProvider, PROVIDER, signIn, type TestBrowser } from "./test_provider.ts";
import { linkIdentity, unlinkIdentity } from "./user_identity.ts";

const test = suite("oauth/sign_in scopes by groups");
const ALL = "read write deploy admin";
const SCOPES = {
  profile: "See your name",
  read: "Read your data",
  write: { description: "Change your data", implies: ["read"], role: "author" },
  deploy: "Deploy",
  admin: { description: "Everything", implies: ["write", "deploy"] },
} as const;

async function newScopeServer(scopes: Record<string, readonly string[]>, groups: readonly string[]) {
  const provider = await newProvider();
  provider.claims["groups"] = groups;
  const server = await newServer({
    scopes: SCOPES,
    clients: [toClient({ id: "app", secret: "app secret:&%+", domain: "app.example", scope: ALL }, 0)],
    signIn: [oidc({ issuer: PROVIDER, ...CLIENT, scopes })],
    signInFetch: (url, init) => provider.fetch(url, init),
  });
  const browser = newBrowser(server);
  await signIn(browser, provider);
  return { provider, server, browser };
}

/** The tokens after consent to all scopes that the page offers; `undefined` when the request is refused. */
async function grant(server: TestServer, browser: TestBrowser, scope = ALL) {
  const page = await browser.get(server.authorizePath({ scope, prompt: "consent" }));
  if (page.status !== 200) return undefined;
  const form = { transaction: transactionOf(await page.text()), decision: "approve" };
  const response = await browser.post("/oauth/authorize", form);
  const code = new URL(response.headers.get("location")!).searchParams.get("code");
  if (code === null) return undefined;
  return await (await server.token({ grant_type: "authorization_code", code, redirect_uri: APP_URI })).json();
}

const scopesOf = async (server: TestServer, token: string): Promise<readonly string[]> =>
  [...(await server.service.verifyToken(token))?.scopes ?? []].sort();

test("a user without the group cannot grant the scope, nor what implies it", async () => {
  const { server, browser } = await newScopeServer({ deploy: ["Ops"] }, ["Staff"]);
  assert.is((await grant(server, browser)).scope, "read");
  assert.is(await grant(server, browser, "deploy"), undefined);
});

test("a user with the group can, whatever their role", async () => {
  const { server, browser } = await newScopeServer({ deploy: ["Ops"], write: ["Writers"] }, [
    "Ops",
    "Writers",
  ]);
  // The default role is reader: `write` takes an author, `admin` an administrator.
  assert.is((await grant(server, browser)).scope, "read write deploy");
});

test("when the group is gone, tokens lose the scope at the next sign-in", async () => {
  const { provider, server, browser } = await newScopeServer({ deploy: ["Ops"] }, ["Ops"]);
  const tokens = await grant(server, browser, "read deploy");
  assert.equal(await scopesOf(server, tokens.access_token), ["deploy", "read"]);
  provider.claims["groups"] = [];
  await signIn(newBrowser(server), provider);
  assert.equal(await scopesOf(server, tokens.access_token), ["read"]);
  const { refresh_token } = tokens;
  const refreshed = await (await server.token({ grant_type: "refresh_token", refresh_token })).json();
  assert.is(refreshed.scope, "read");
  assert.is(await grant(server, browser, "deploy"), undefined);
});

test("rights of a provider end when its identity is unlinked, and no other source of profiles revives them", async () => {
  const { server, browser } = await newScopeServer({ deploy: ["Ops"] }, ["Ops"]);
  const { access_token } = await grant(server, browser, "read deploy");
  const [user] = await Array.fromAsync(listLinkedUsers(server.store));
  const other = {
    issuer: "https://other.example",
    subject: "1",
    emailVerified: false,
    groups: [],
    claims: {},
  };
  await linkIdentity(server.store, user!.id, other, { provider: "other", now: 0 });
  const gone = { issuer: PROVIDER, subject: "248289" };
  assert.is(
    await unlinkIdentity(
      server.store,
      user!.id,
      gone,
      () => Promise.resolve(undefined),
      () => Promise.resolve(true),
    ),
    "unlinked",
  );
  assert.equal(await scopesOf(server, access_token), ["read"]);
  await saveProfile(server.store, { id: user!.id, name: "Other", email: "" });
  assert.equal(await scopesOf(server, access_token), ["read"]);
});

test("a scope that is not defined is refused at start", async () => {
  const failure = await newScopeServer({ unknown: ["Ops"] }, []).catch((error) => error);
  assert.instance(failure, TypeError);
});

test("names of object members are no scopes that groups decide on", () => {
  const as = {
    scopeRoles: new Map(),
    defaultRole: "reader",
    implied: new Map([["constructor", new Set(["constructor"])], ["read", new Set(["read"])]]),
  } as unknown as Parameters<typeof limitToRole>[0];
  assert.is(limitToRole(as, { scopes: { read: false } }, "constructor read"), "constructor");
});

test.run();
