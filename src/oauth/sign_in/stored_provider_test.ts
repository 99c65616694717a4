import { suite } from "uvu";
import * as assert from "uvu/assert";
import { soleSecret } from "../../crypto/server_secrets.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { Entry } from "../../store/store.ts";
import { beforeNextCommit } from "../../store/test_meanwhile.ts";
import type { StoredProvider } from "../records/provider_record.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { newServer } from "../test_server.ts";
import { findWayWithoutPasskeys } from "../users/sign_in_ways.ts";
import { oidc } from "./oidc.ts";
import { isAdmitted } from "./provider.ts";
import { createProviderDirectory } from "./provider_directory.ts";
import { endProviderTokens } from "./provider_tokens.ts";
import {
  addProvider,
  createSecretSealer,
  listProviders,
  openProvider,
  removeProvider,
  updateProvider,
} from "./stored_provider.ts";
import { CLIENT, newBrowser, newProvider, PROVIDER, signIn } from "./test_provider.ts";

const test = suite("oauth/sign_in stored providers");
const SECRETS = soleSecret(new Uint8Array(32).fill(7));
const SECRET = () => SECRETS;
const WORK = { kind: "oidc", id: "work", name: "Work", issuer: PROVIDER, ...CLIENT } as const;

test("a provider that is added, changed and removed counts at once", async () => {
  const provider = await newProvider();
  const server = await newServer({
    storedProviders: true,
    signInFetch: (url, init) => provider.fetch(url, init),
  });
  const sealer = createSecretSealer(SECRET);
  const attempt = async () => (await signIn(newBrowser(server), provider, "/login/work?redirect=%2F")).status;
  const isShown = async () => (await (await server.send("/login")).text()).includes("Continue with Work");
  assert.equal([await isShown(), (await server.send("/login/work")).status], [false, 404]);
  await addProvider(server.store, sealer, WORK);
  assert.equal([await isShown(), await attempt()], [true, 302]);
  await addProvider(server.store, sealer, { ...WORK, domains: ["other.example"] });
  assert.is(await attempt(), 403);
  assert.is(await removeProvider(server.store, "work"), true);
  assert.is(await removeProvider(server.store, "work"), false);
  assert.equal([await isShown(), (await server.send("/login/work")).status], [false, 404]);
});

test("a provider that is changed while it is removed is removed", async () => {
  const store = memoryStore();
  const sealer = createSecretSealer(SECRET);
  await addProvider(store, sealer, WORK);
  beforeNextCommit(store, () => updateProvider(store, sealer, "work", { name: "Office" }));
  assert.is(await removeProvider(store, "work"), true);
  assert.equal(await Array.fromAsync(listProviders(store)), []);
});

for (
  const [name, value, isMoved] of [
    ["name", "Office", false],
    ["issuer", PROVIDER, false],
    ["issuer", "https://other.example", true],
    ["clientId", "other", true],
  ] as const
) {
  test(`tokens of a provider ${isMoved ? "end before and after" : "stay when"} its ${name} becomes ${value}`, async () => {
    const store = memoryStore();
    const sealer = createSecretSealer(SECRET);
    await addProvider(store, sealer, WORK);
    const seen: unknown[] = [];
    const onMoved = async () => void seen.push((await Array.fromAsync(listProviders(store)))[0]![name]);
    await updateProvider(store, sealer, "work", { [name]: value }, onMoved);
    assert.equal(seen, isMoved ? [WORK[name], value] : []);
    const problem = await updateProvider(store, sealer, "work", { issuer: "no URL" }, onMoved).catch((
      error,
    ) => error);
    assert.instance(problem, TypeError);
    assert.is(seen.length, isMoved ? 2 : 0, "nothing ends for a change that is refused");
  });
}

for (const change of ["another client", "another name", "removed"] as const) {
  test(`tokens of a sign-in during which its provider became: ${change}`, async () => {
    const provider = await newProvider();
    const sealer = createSecretSealer(SECRET);
    const server = await newServer({
      storedProviders: true,
      async signInFetch(url, init) {
        const response = await provider.fetch(url, init);
        if (!url.endsWith("/token")) return response;
        const { providerAccess } = server.service;
        const before = await providerAccess.providers.find("work");
        const end = () => endProviderTokens(providerAccess, "work", before);
        if (change === "removed") await removeProvider(server.store, "work");
        else if (change === "another name") {
          await updateProvider(server.store, sealer, "work", { name: "Office" });
        } else await updateProvider(server.store, sealer, "work", { issuer: "https://other.example" }, end);
        return response;
      },
    });
    await addProvider(server.store, sealer, { ...WORK, keepTokens: true });
    provider.tokens = { refresh_token: "of the earlier client" };
    assert.is((await signIn(newBrowser(server), provider, "/login/work?redirect=%2F")).status, 302);
    const isKept = change === "another name";
    assert.is((await server.store.list(["provider_tokens"])).length, isKept ? 1 : 0);
    assert.is(provider.revoked.includes("of the earlier client"), !isKept);
  });
}

test("the secret is sealed, and only with the secret of the server it is read", async () => {
  const store = memoryStore();
  await addProvider(store, createSecretSealer(SECRET), WORK);
  const [stored] = await Array.fromAsync(listProviders(store));
  assert.is(JSON.stringify(stored).includes(CLIENT.clientSecret), false);
  const other = createSecretSealer(() => soleSecret(new Uint8Array(32).fill(8)));
  const failure = await openProvider(stored!, other).then(() => undefined, (error) => error);
  assert.instance(failure, TypeError);
});

test("a provider whose secret cannot be read signs no one in, and its users' pages work", async () => {
  const provider = await newProvider();
  const server = await newServer({
    storedProviders: true,
    signInFetch: (url, init) => provider.fetch(url, init),
  });
  await addProvider(server.store, createSecretSealer(SECRET), WORK);
  const browser = newBrowser(server);
  assert.is((await signIn(browser, provider, "/login/work?redirect=%2F")).status, 302);
  const other = createSecretSealer(() => soleSecret(new Uint8Array(32).fill(8)));
  await addProvider(server.store, other, WORK);
  assert.is((await browser.get("/login/work")).status, 502);
  const failed = server.events.find(({ type }) => type === "sign_in_failed") as { reason: string };
  assert.match(failed.reason, "sealed by another server");
  assert.is((await browser.get("/account/profile")).status, 200);
  // A login of which the provider said no time is not recent: the user signs in again.
  assert.is((await browser.get("/account/delete")).status, 303);
  const directory = server.service.providerAccess.providers;
  assert.equal([await directory.isUsable("work"), await directory.isUsable("none")], [false, false]);
  const [user] = await server.store.list<{ id: string }>(["profile"]);
  assert.is(
    await findWayWithoutPasskeys(server.service.providerAccess as AuthorizationServer, user!.value.id),
    undefined,
  );
  await updateProvider(server.store, createSecretSealer(SECRET), "work", {
    clientSecret: CLIENT.clientSecret,
  });
  assert.is(await directory.isUsable("work"), true);
  assert.equal(server.events.filter(({ type }) => type === "fault"), []);
});

test("settings that make no provider are refused and not stored", async () => {
  const store = memoryStore();
  for (
    const wrong of [
      { ...WORK, issuer: undefined },
      { ...WORK, id: "UPPER" },
      { ...WORK, id: "mfa" },
      { ...WORK, id: "password" },
      { ...WORK, clientId: "" },
      { ...WORK, kind: "entra" as const },
      { ...WORK, domains: ["@example.com"] },
      { ...WORK, domains: [] },
      { ...WORK, groups: [] },
      { ...WORK, groups: [""] },
      { ...WORK, roles: { admin: [""] } },
      { ...WORK, tenant: "common" },
      { kind: "google" as const, ...CLIENT, issuer: PROVIDER },
      { kind: "google" as const, ...CLIENT, groups: ["acme"] },
      { kind: "github" as const, ...CLIENT, groupsClaim: "roles" },
      { kind: "entra" as const, ...CLIENT, tenant: "common", keyId: "1" },
    ]
  ) {
    const failure = await addProvider(store, createSecretSealer(SECRET), wrong).catch((error) => error);
    assert.instance(failure, TypeError, JSON.stringify(wrong));
  }
  assert.equal(await Array.fromAsync(listProviders(store)), []);
});

test("attack: no provider has the class of a login with a second factor as its id", async () => {
  const store = memoryStore();
  const secret = SECRET;
  await addProvider(store, createSecretSealer(secret), { ...WORK, id: "strong" });
  const options = { signIn: [], storedProviders: true, store, secret };
  const found = async (acr: string) => {
    const directory = createProviderDirectory({ ...options, factors: { acr } });
    return [(await directory.find("strong"))?.id, ...(await directory.list()).map(({ id }) => id)];
  };
  assert.equal(await found("mfa"), ["strong", "strong"]);
  assert.equal(await found("strong"), [undefined]);
  for (const [id, acr] of [["mfa", "mfa"], ["strong", "strong"], ["password", "mfa"]] as const) {
    const signIn = [oidc({ issuer: PROVIDER, ...CLIENT, id })];
    assert.throws(() => createProviderDirectory({ ...options, signIn, factors: { acr } }), /oauth\.signIn/);
  }
});

test("each kind is made of its settings", async () => {
  const store = memoryStore();
  const sealer = createSecretSealer(SECRET);
  for (
    const registration of [
      { kind: "google", ...CLIENT, domains: ["example.com"] },
      { kind: "github", ...CLIENT, groups: ["acme"] },
      { kind: "entra", ...CLIENT, tenant: "organizations" },
      WORK,
    ] as const
  ) await addProvider(store, sealer, registration);
  const opened = await Promise.all(
    (await Array.fromAsync(listProviders(store))).map((each) => openProvider(each, sealer)),
  );
  assert.equal(opened.map(({ id, name }) => [id, name]), [
    ["entra", "Microsoft"],
    ["github", "GitHub"],
    ["google", "Google"],
    ["work", "Work"],
  ]);
});

test("a stored provider with settings that are refused now is read, changed, and admits no one new", async () => {
  const store = memoryStore();
  const sealer = createSecretSealer(SECRET);
  await addProvider(store, sealer, WORK);
  const [{ key, value }] = await store.list<StoredProvider>(["provider"]) as [Entry<StoredProvider>];
  for (
    const old of [{ groups: [] }, { groups: [""] }, { domains: [] }, {
      roles: { admin: [""] },
      tenant: "common",
    }]
  ) {
    await store.commit({ set: [{ key, value: { ...value, ...old } }] });
    const opened = await openProvider({ ...value, ...old }, sealer);
    const identity = { issuer: PROVIDER, subject: "1", emailVerified: true, groups: [""], claims: {} };
    const isOpen = old.roles !== undefined;
    assert.is(await isAdmitted(opened, { ...identity, email: "a@example.com" }), isOpen, JSON.stringify(old));
    assert.is((await updateProvider(store, sealer, "work", { name: "Other" }))?.name, "Other");
    const failure = await updateProvider(store, sealer, "work", { tenant: "common" }).catch((error) => error);
    assert.instance(failure, TypeError);
  }
  const google = { ...value, kind: "google" as const, domains: [] };
  assert.is(
    await isAdmitted(await openProvider(google, sealer), {
      issuer: "https://accounts.google.com",
      subject: "1",
      emailVerified: true,
      groups: [],
      claims: { hd: "" },
    }),
    false,
  );
});

test.run();
