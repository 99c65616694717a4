import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import { type Commit, listAll, type Store } from "../../store/store.ts";
import {
  linkedAccountKey,
  providerTokensKey,
  type StoredProviderTokens,
} from "../records/provider_record.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { removeUser } from "../users/remove_user.ts";

import { listLinkedUsers } from "./linked_account.ts";
import { oidc } from "./oidc.ts";
import {
  endProviderTokens,
  getProviderToken,
  keepProviderTokens,
  readProviderTokens,
  revokeProviderTokens,
} from "./provider_tokens.ts";
import { CLIENT, newBrowser, newProvider, PROVIDER, signIn, type TestProvider } from "./test_provider.ts";
import { linkIdentity, unlinkIdentity } from "./user_identity.ts";

const test = suite("oauth/sign_in/provider_tokens");

/** A provider that gives refresh tokens, and two instances of a server that keeps its tokens. */
async function newKeepers(more: Record<string, unknown> = {}) {
  const provider = await newProvider();
  provider.tokens = { refresh_token: "first", expires_in: 3600, ...more };
  provider.refreshTokens.add("first");
  provider.idToken["at_hash"] = undefined;
  const store = memoryStore();
  const servers = await Promise.all([0, 1].map(() => newKeeper(provider, store)));
  await signIn(newBrowser(servers[0]!), provider);
  const [user] = await Array.fromAsync(listLinkedUsers(store));
  return { provider, store, servers, id: user!.id };
}

function newKeeper(provider: TestProvider, store: Store, keepTokens = true): Promise<TestServer> {
  const signIn = [oidc({ issuer: PROVIDER, ...CLIENT, keepTokens })];
  return newServer({ store, signIn, signInFetch: (url, init) => provider.fetch(url, init) });
}

const tokenOf = (server: TestServer, user: string) =>
  getProviderToken(server.service.providerAccess, user, "oidc");
const refreshesOf = ({ requests }: TestProvider) =>
  requests.filter(({ url, init }) => url.endsWith("/token") && String(init.body).includes("refresh_token="))
    .length;

test("without keepTokens no token is kept", async () => {
  const provider = await newProvider();
  provider.tokens = { refresh_token: "first" };
  const server = await newKeeper(provider, memoryStore(), false);
  await signIn(newBrowser(server), provider);
  assert.equal(await Array.fromAsync(listAll(server.store, ["provider_tokens"])), []);
  const [user] = await Array.fromAsync(listLinkedUsers(server.store));
  assert.is(await tokenOf(server, user!.id), undefined);
});

test("a kept token is given out until it expires, and is nowhere in the store in clear", async () => {
  const tokens = { access_token: "an access token", scope: "mail" };
  const { provider, store, servers, id } = await newKeepers(tokens);
  const { id_token, ...token } = (await tokenOf(servers[1]!, id))!;
  assert.equal(token, tokens);
  assert.match(id_token!, /^eyJ/);
  const kept = await Array.fromAsync(listAll(store, []));
  assert.is(/an access token|first/.test(JSON.stringify(kept)), false);
  assert.is(refreshesOf(provider), 0);
});

test("an expired token is refreshed once for all callers on all instances", async () => {
  const { provider, servers, id } = await newKeepers({ expires_in: 1 });
  servers.forEach((server) => server.advance(2));
  const calls = servers.flatMap((server) => Array.from({ length: 8 }, () => tokenOf(server, id)));
  const tokens = await Promise.all(calls);
  assert.is(new Set(tokens.map((token) => token?.access_token)).size, 1);
  assert.match(tokens[0]!.access_token, /^fresh /);
  assert.is(refreshesOf(provider), 1);
  // The next time the rotated refresh token is used.
  servers.forEach((server) => server.advance(3600));
  assert.is.not((await tokenOf(servers[0]!, id))!.access_token, tokens[0]!.access_token);
  assert.is(refreshesOf(provider), 2);
});

test("a sign-in without a refresh token keeps the earlier one, of the same identity only", async () => {
  const { provider, store, servers, id } = await newKeepers({ expires_in: 1 });
  provider.tokens = { expires_in: 1 };
  await signIn(newBrowser(servers[0]!), provider);
  servers[0]!.advance(2);
  assert.match((await tokenOf(servers[0]!, id))!.access_token, /^fresh /);
  const key = providerTokensKey(id, "oidc");
  const value = (await store.get<StoredProviderTokens>(key))!.value;
  await store.commit({ set: [{ key, value: { ...value, subject: "another" } }] });
  await signIn(newBrowser(servers[0]!), provider);
  servers[0]!.advance(2);
  assert.is(await tokenOf(servers[0]!, id), undefined);
});

test("a refresh token that the provider refuses ends the record; another failure does not, and is not repeated at once", async () => {
  const { provider, store, servers, id } = await newKeepers({ expires_in: 1 });
  const [server] = servers;
  server!.advance(2);
  provider.answers.set(`${PROVIDER}/token`, () => new Response("secret s:e%c+r&t", { status: 500 }));
  const failure = await tokenOf(server!, id).catch((error) => error);
  assert.is(failure.name, "PublicFetchError");
  assert.is((await tokenOf(server!, id).catch((error) => error)).name, "PublicFetchError");
  assert.is(refreshesOf(provider), 1);
  provider.answers.delete(`${PROVIDER}/token`);
  provider.refreshTokens.clear();
  server!.advance(3);
  assert.is(await tokenOf(server!, id), undefined);
  assert.is(await store.get(providerTokensKey(id, "oidc")), undefined);
  assert.equal(server!.events.filter(({ type }) => type === "provider_tokens_ended"), [{
    type: "provider_tokens_ended",
    user: id,
    provider: "oidc",
    reason: "The token endpoint answered invalid_grant",
  }]);
});

test("an instance that stopped while it refreshed does not block the others for long", async () => {
  const { store, servers, id } = await newKeepers({ expires_in: 1 });
  const [server] = servers;
  server!.advance(2);
  const key = providerTokensKey(id, "oidc");
  const { value } = (await store.get<StoredProviderTokens>(key))!;
  const refresh = { by: "a stopped instance", until: Date.now() + 2000 + 15_000 };
  await store.commit({ set: [{ key, value: { ...value, refresh } }] });
  server!.advance(20);
  assert.match((await tokenOf(server!, id))!.access_token, /^fresh /);
});

test("a record that was copied to another user, provider or identity does not open", async () => {
  const { store, servers, id } = await newKeepers();
  const [server] = servers;
  assert.ok(await tokenOf(server!, id));
  const { value } = (await store.get<StoredProviderTokens>(providerTokensKey(id, "oidc")))!;
  const thief = { id: "user_thief", name: "Thief", email: "" };
  await store.commit({
    set: [{ key: ["profile", thief.id], value: thief }, { key: providerTokensKey(thief.id, "oidc"), value }],
  });
  assert.is(await tokenOf(server!, thief.id), undefined);
  await store.commit({ set: [{ key: providerTokensKey(id, "oidc"), value: { ...value, subject: "2" } }] });
  assert.is(await tokenOf(server!, id), undefined);
});

test("tokens end with the identity: removed in the same commit, and revoked at the provider", async () => {
  const { provider, store, servers, id } = await newKeepers();
  const access = servers[0]!.service.providerAccess;
  const kept = await readProviderTokens(access, id);
  assert.equal(kept.map(({ provider }) => provider), ["oidc"]);
  const identity = { issuer: PROVIDER, subject: "248289" };
  assert.is(
    await unlinkIdentity(store, id, identity, () => Promise.resolve([]), () => Promise.resolve(true)),
    "unlinked",
  );
  assert.is(await store.get(providerTokensKey(id, "oidc")), undefined);
  assert.is(await tokenOf(servers[0]!, id), undefined);
  await revokeProviderTokens(access, id, kept);
  assert.equal(provider.revoked, ["first", kept[0]!.tokens.access_token]);
});

test("tokens end with the identity at each provider of its issuer", async () => {
  const { store, servers, id } = await newKeepers();
  const access = servers[0]!.service.providerAccess;
  const identity = { issuer: PROVIDER, subject: "248289", emailVerified: false, groups: [], claims: {} };
  await keepProviderTokens(access, id, "second", identity, { access_token: "other" });
  assert.is((await store.list(["provider_tokens", id])).length, 2);
  await unlinkIdentity(store, id, identity, () => Promise.resolve([]), () => Promise.resolve(true));
  assert.equal(await store.list(["provider_tokens", id]), []);
});

test("tokens of a sign-in are revoked by the provider as it was, when it is removed already", async () => {
  const { provider, store, servers, id } = await newKeepers();
  const access = servers[0]!.service.providerAccess;
  const before = await access.providers.find("oidc");
  const removed = { ...access, providers: { ...access.providers, find: () => Promise.resolve(undefined) } };
  assert.is(await endProviderTokens(removed, "oidc", before), 1);
  assert.is(await store.get(providerTokensKey(id, "oidc")), undefined);
  assert.is(provider.revoked.length, 2);
});

test("a provider that does not revoke is an event, and no failure", async () => {
  const { provider, servers, id } = await newKeepers();
  const access = servers[0]!.service.providerAccess;
  const kept = await readProviderTokens(access, id);
  provider.answers.set(
    `${PROVIDER}/revoke`,
    () => Response.json({ error: "invalid_client" }, { status: 401 }),
  );
  await revokeProviderTokens(access, id, kept);
  const [event] = servers[0]!.events.filter(({ type }) => type === "provider_tokens_ended");
  assert.is(
    "reason" in event! && event.reason,
    "not revoked: The revocation endpoint answered invalid_client",
  );
});

test("tokens end with the user, and a refresh that ends after that keeps none", async () => {
  const { provider, store, servers, id } = await newKeepers({ expires_in: 1 });
  const [server] = servers;
  server!.advance(2);
  const { promise, resolve } = Promise.withResolvers<void>();
  const fetched = provider.fetch;
  provider.fetch = async (url, init) => {
    const response = await fetched(url, init);
    if (String(init.body).includes("grant_type=refresh_token")) await promise;
    return response;
  };
  const waiting = tokenOf(server!, id);
  while (refreshesOf(provider) === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  assert.is(await removeUser(store, id), true);
  resolve();
  assert.is(await waiting, undefined);
  assert.equal(await Array.fromAsync(listAll(store, ["provider_tokens"])), []);
  assert.is(provider.revoked.length, 2);
});

test("tokens and identities end with a user of this server, too", async () => {
  const { store, servers, id } = await newKeepers();
  const alice = (await store.get<string>(["username", "alice"]))!.value;
  const identity = { issuer: PROVIDER, subject: "2", emailVerified: false, groups: [], claims: {} };
  await linkIdentity(store, alice, identity, { provider: "oidc", now: 0 });
  const access = servers[0]!.service.providerAccess;
  await keepProviderTokens(access, alice, "oidc", identity, { access_token: "hers" });
  assert.is((await tokenOf(servers[0]!, alice))!.access_token, "hers");
  assert.is(await removeUser(store, "alice"), true);
  for (const kind of ["provider_tokens", "user_identity"]) {
    assert.equal((await store.list([kind])).map(({ key }) => key[1]), [id], kind);
  }
  assert.is(await store.get(linkedAccountKey(PROVIDER, "2")), undefined);
  assert.ok(await tokenOf(servers[0]!, id));
});

test("a sign-in that ends after its account was unlinked keeps no token", async () => {
  const { provider, store, servers, id } = await newKeepers();
  const fetched = provider.fetch;
  provider.fetch = async (url, init) => {
    const response = await fetched(url, init);
    if (url.endsWith("/token")) {
      await store.commit({
        remove: [linkedAccountKey(PROVIDER, "248289"), providerTokensKey(id, "oidc"), ["profile", id]],
      });
    }
    return response;
  };
  await signIn(newBrowser(servers[0]!), provider);
  const kept = await Array.fromAsync(listAll(store, ["provider_tokens", id]));
  assert.equal(kept, []);
});

test("tokens are kept only for the account that the identity is linked to", async () => {
  const { store, servers } = await newKeepers();
  const alice = (await store.get<string>(["username", "alice"]))!.value;
  const identity = { issuer: PROVIDER, subject: "248289", emailVerified: false, groups: [], claims: {} };
  const access = servers[0]!.service.providerAccess;
  await keepProviderTokens(access, alice, "oidc", identity, { access_token: "another user's" });
  assert.is(await store.get(providerTokensKey(alice, "oidc")), undefined);
});

test("offline_access is asked for where the metadata lists it", async () => {
  const provider = await newProvider();
  provider.metadata["scopes_supported"] = ["openid", "offline_access"];
  const ask = async (settings: Record<string, unknown>) => {
    const at = oidc({ issuer: PROVIDER, ...CLIENT, ...settings });
    const server = await newServer({
      signIn: [at],
      signInFetch: (url, init) => provider.fetch(url, init),
    });
    const { headers } = await newBrowser(server).get("/login/oidc");
    return new URL(headers.get("location")!).searchParams.get("scope");
  };
  assert.is(await ask({ keepTokens: true }), "openid profile email offline_access");
  assert.is(await ask({}), "openid profile email");
  assert.is(await ask({ keepTokens: true, scope: "openid mail" }), "openid mail");
});

test("tokens that are refreshed while those of a provider end are revoked as they are then", async () => {
  const { provider, store, servers, id } = await newKeepers({ expires_in: 1 });
  const [server] = servers;
  server!.advance(2);
  const { commit } = store;
  let isDone = false;
  Object.assign(store, {
    async commit(changes: Commit) {
      if (!isDone) {
        isDone = true;
        await tokenOf(server!, id);
      }
      return await commit.call(store, changes);
    },
  });
  assert.is(await endProviderTokens(server!.service.providerAccess, "oidc"), 1);
  assert.equal(await store.list(["provider_tokens"]), []);
  assert.is(refreshesOf(provider), 1);
  assert.ok(provider.revoked.some((token) => provider.refreshTokens.has(token)));
});

test.run();
