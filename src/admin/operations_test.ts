import { suite } from "uvu";
import * as assert from "uvu/assert";
import { oidc } from "../oauth/sign_in/oidc.ts";
import { createProviderDirectory } from "../oauth/sign_in/provider_directory.ts";
import { type Store, StoreUnavailableError } from "../store/store.ts";
import { beforeNextCommit, interruptAfter, loseNextResponse } from "../store/test_meanwhile.ts";
import { newAdmin } from "./test_admin.ts";

const test = suite("admin/operations");

test("a user is added, found by id and name, changed, locked, and removed", async () => {
  const { call, refuse, events } = newAdmin();
  const added = await call("addUser", { username: "Alice", name: "Alice Liddell", role: "author" });
  assert.is(added.secret.length, 20);
  const { secret: _, ...user } = added;
  assert.equal((await call("listUsers")).data, [user]);
  const shown = await call("showUser", { user: "ALICE" });
  assert.is(shown.id, user.id);
  assert.equal([shown.sessions, shown.grants, shown.identities], [0, 0, []]);
  assert.is((await call("updateUser", { user: user.id, email: "a@b.example" })).email, "a@b.example");
  assert.ok((await call("lockUser", { user: "alice" })).locked);
  assert.is((await call("unlockUser", { user: "alice" })).locked, null);
  const renewed = await call("setPassword", { user: "alice", end_sessions: true });
  assert.is.not(renewed.secret, added.secret);
  assert.is((await call("setPassword", { user: "alice", password: "chosen" })).secret, null);
  assert.is((await call("exportUserData", { user: "alice" })).profile.username, "Alice");
  assert.equal(await refuse("removeFactors", { user: "alice" }), [404, "This user has no second factor"]);
  await call("removeUser", { user: "alice" });
  assert.equal(await refuse("showUser", { user: "alice" }), [404, 'User not found: "alice"']);
  assert.equal(
    events.map((event) => event.type === "admin_changed" && [event.operation, event.subject, event.actor]),
    ["addUser", "updateUser", "lockUser", "unlockUser", "setPassword", "setPassword", "removeUser"]
      .map((operation) => [operation, user.id, "key_test"]),
  );
  assert.not.ok(JSON.stringify(events).includes(added.secret));
});

test("a client is added with a secret that is shown once", async () => {
  const { call, refuse } = newAdmin();
  const { secret, ...client } = await call("addClient", { id: "app", domain: "app.example" });
  assert.match(secret, /^trivet_cs_/);
  assert.equal([client.public, client.has_secret], [false, true]);
  assert.equal(await call("showClient", { client: "app" }), client);
  const changed = await call("updateClient", { client: "app", name: "App", scope: "skills:read" });
  assert.equal([changed.name, changed.scope, changed.domain], ["App", "skills:read", "app.example"]);
  assert.not.ok("scope" in await call("updateClient", { client: "app", scope: null }));
  const rotated = await call("rotateClientSecret", { client: "app", keep_old_seconds: 60 });
  assert.ok(rotated.secret !== secret && rotated.old_secret_until !== null);
  assert.is((await call("showClient", { client: "app" })).old_secret_until, rotated.old_secret_until);
  assert.is((await call("addClient", { id: "open", public: true, domain: "a.example" })).secret, null);
  assert.equal((await call("listClients", { search: "OPEN" })).data.map(({ id }: { id: string }) => id), [
    "open",
  ]);
  await call("removeClient", { client: "app" });
  assert.is((await refuse("removeClient", { client: "app" }))[0], 404);
});

test("a provider keeps its secret sealed", async () => {
  const { call, refuse, store } = newAdmin();
  const settings = {
    kind: "google",
    client_id: "id",
    client_secret: "hidden-secret",
    domains: ["a.example"],
  };
  const provider = await call("addProvider", settings);
  assert.equal([provider.id, provider.has_secret], ["google", true]);
  assert.is(provider.redirect_uri, "https://admin.example/login/google/callback");
  assert.equal(await refuse("addProvider", settings), [409, 'id: "google" is taken']);
  const changed = await call("updateProvider", { provider: "google", name: "Work", domains: null });
  assert.equal([changed.name, changed.domains, changed.has_secret], ["Work", undefined, true]);
  assert.not.ok(JSON.stringify(await store.list(["provider"])).includes("hidden-secret"));
  const tested = await call("testProvider", { provider: "google" });
  assert.equal([tested.works, tested.client], [false, null]);
  assert.is((await call("listProviders")).data.length, 1);
  assert.equal(await call("showProvider", { provider: "google" }), changed);
  await call("removeProvider", { provider: "google" });
  assert.is((await refuse("testProvider", { provider: "google" }))[0], 404);
});

test("a provider whose id is taken by the configuration is refused, and one that was added before says so", async () => {
  const signIn = [oidc({ id: "work", issuer: "https://idp.example", clientId: "id", clientSecret: "s" })];
  const { store, context } = newAdmin();
  const providers = createProviderDirectory({
    signIn,
    storedProviders: true,
    store,
    secret: context.providers.secret,
    factors: { acr: "gold" },
  });
  const { call, refuse } = newAdmin(store, { providers: { ...context.providers, providers } });
  const earlier = newAdmin(store);
  for (const id of ["work", "gold"]) {
    const settings = { kind: "google", id, client_id: "id", client_secret: "s" };
    assert.is((await refuse("addProvider", settings))[0], 409, id);
    await earlier.call("addProvider", settings);
    const { works, problem } = await call("testProvider", { provider: id });
    assert.is(works, false);
    assert.match(problem, "its id");
  }
});

test("an API key is added, changed and removed", async () => {
  const { call, refuse } = newAdmin(undefined, { scopes: ["skills:read", "admin"] });
  const { secret, ...key } = await call("addKey", { name: "ci", scopes: ["skills:read"] });
  assert.match(secret, /^trivet_key_/);
  assert.equal(await call("showKey", { key: key.id }), key);
  const changed = await call("updateKey", { key: key.id, scopes: ["admin"] });
  assert.equal([changed.name, changed.scopes], ["ci", ["admin"]]);
  assert.match(
    (await refuse("addKey", { name: "x", scopes: ["skils:read"] }))[1],
    /^scopes: unknown scope "skils:read"/,
  );
  assert.is((await refuse("updateKey", { key: key.id, scopes: ["skills:read"] }, key.id))[0], 409);
  assert.is((await refuse("removeKey", { key: key.id }, key.id))[0], 409);
  assert.equal((await call("listKeys", { search: "admin" })).data, [changed]);
  await call("removeKey", { key: key.id });
  assert.is((await refuse("showKey", { key: key.id }))[0], 404);
});

test("an invitation is a link that appears once", async () => {
  const { call, refuse } = newAdmin();
  const { link, secret, ...invitation } = await call("addInvitation", {
    email: "b@a.example",
    role: "author",
  });
  assert.is(link, `https://admin.example/login/invitation?token=${secret}`);
  assert.equal((await call("listInvitations")).data, [invitation]);
  assert.is((await refuse("addInvitation", { email: "nobody" }))[0], 400);
  await call("removeInvitation", { invitation: invitation.id });
  assert.is((await refuse("removeInvitation", { invitation: invitation.id }))[0], 404);
});

test("input that the schema refuses is named by its property", async () => {
  const { call, refuse } = newAdmin();
  await call("addUser", { username: "alice" });
  await call("addClient", { id: "app", domain: "a.example" });
  const cases: readonly (readonly [name: string, input: unknown, status: number, message: RegExp])[] = [
    ["addUser", {}, 400, /username/],
    ["addUser", [], 400, /must be object/],
    ["addUser", { username: "bob", rol: "admin" }, 400, /rol/],
    ["addUser", { username: "bob", role: "root" }, 400, /^role: /],
    ["addUser", { username: "bob", password: "" }, 400, /^password: /],
    ["addUser", { username: "a\nb" }, 400, /user name/],
    ["addUser", { username: "ALICE" }, 409, /^username: "ALICE" is taken$/],
    ["updateUser", { user: "alice", name: 1 }, 400, /^name: /],
    ["updateUser", { user: "alice", name: null }, 400, /^name: /],
    ["updateUser", { user: "nobody", name: "x" }, 404, /^User not found/],
    ["setPassword", { user: "nobody" }, 404, /^User not found/],
    ["listUsers", { limit: 0 }, 400, /^limit: /],
    ["listUsers", { limit: 101 }, 400, /^limit: /],
    ["listUsers", { page: "garbage" }, 400, /^page: /],
    ["listUsers", { page: "WzUsWyJhIl1d" }, 400, /^page: /],
    ["addClient", { id: "app" }, 409, /^id: "app" is taken$/],
    ["addClient", { redirect_uris: ["javascript:alert(1)"] }, 400, /redirect/i],
    ["addClient", { public: true }, 400, /redirect/],
    ["addClient", { jwks: { keys: [{}] } }, 400, /jwks/],
    ["updateClient", { client: "app", grant_types: ["password"] }, 400, /^grant_types.0: /],
    ["rotateClientSecret", { client: "nobody" }, 404, /^Client not found/],
    ["addProvider", { kind: "myspace", client_id: "x" }, 400, /^kind: /],
    ["addProvider", { kind: "oidc", client_id: "x", issuer: "no url" }, 400, /issuer/],
    ["addKey", { name: "ci", scopes: [] }, 400, /^scopes: /],
    ["addKey", { name: "ci", scopes: ["a b"] }, 400, /^scopes.0: /],
    ["updateKey", { key: "key_none", name: "x" }, 404, /^API key not found/],
    ["addInvitation", { lifetime_seconds: 0 }, 400, /^lifetime_seconds: /],
  ];
  for (const [name, input, status, message] of cases) {
    const refused = await refuse(name, input);
    assert.is(refused[0], status, `${name} ${JSON.stringify(input)}: ${refused[1]}`);
    assert.match(refused[1], message);
  }
});

test("an administrator keeps their access, and the last one remains", async () => {
  const { call, refuse } = newAdmin();
  const alice = (await call("addUser", { username: "alice", role: "admin" })).id;
  const actions = [
    ["lockUser", { user: "alice" }],
    ["updateUser", { user: "alice", role: "author" }],
    ["removeUser", { user: "alice" }],
  ] as const;
  for (const [name, input] of actions) {
    assert.match((await refuse(name, input, alice))[1], /yourself/);
    const [status, message] = await refuse(name, input, "key_other");
    assert.equal([status, /the last administrator/.test(message)], [409, true]);
  }
  // A locked administrator is none that remains.
  const bob = (await call("addUser", { username: "bob", role: "admin" })).id;
  await call("lockUser", { user: "bob" });
  assert.is((await refuse("lockUser", { user: "alice" }))[0], 409);
  await call("unlockUser", { user: "bob" });
  await call("lockUser", { user: "alice" }, bob);
  assert.is((await refuse("removeUser", { user: "bob" }))[0], 409);
  await call("removeUser", { user: "alice" }, bob);
  // A command can add another administrator.
  await call("removeUser", { user: "bob" }, "command line");
});

test("two requests at once do not take the access of the last administrators", async () => {
  const actions = [["lockUser", {}], ["updateUser", { role: "author" }], ["removeUser", {}]] as const;
  for (const byUsers of [false, true]) {
    for (const [first, change] of actions) {
      for (const [second, otherChange] of actions) {
        const { call, refuse, store } = newAdmin();
        const idOf = async (username: string) => (await call("addUser", { username, role: "admin" })).id;
        const [alice, bob] = [await idOf("alice"), await idOf("bob")];
        const act = () => call(second, { user: bob, ...otherChange }, byUsers ? alice : "key_test");
        const meanwhile = beforeNextCommit(store, act);
        const refused = await refuse(first, { user: alice, ...change }, byUsers ? bob : "key_other");
        assert.ok(meanwhile.isDone);
        assert.is(refused[0], 409, `${second} during ${first}`);
        const { role, locked } = await call("showUser", { user: alice });
        assert.equal([role, locked], ["admin", null], `${second} during ${first}`);
      }
    }
  }
});

test("a user who becomes the last administrator meanwhile is not locked", async () => {
  const { call, refuse, store } = newAdmin();
  await call("addUser", { username: "alice", role: "admin" });
  await call("addUser", { username: "bob", role: "author" });
  for (const name of ["lockUser", "removeUser"]) {
    beforeNextCommit(store, async () => {
      await call("updateUser", { user: "bob", role: "admin" });
      await call("updateUser", { user: "alice", role: "author" });
    });
    assert.is((await refuse(name, { user: "bob" }))[0], 409, name);
    await call("updateUser", { user: "alice", role: "admin" });
    await call("updateUser", { user: "bob", role: "author" });
  }
});

test("two changes at once lose nothing", async () => {
  const { call } = newAdmin();
  const user = (await call("addUser", { username: "alice" })).id;
  await Promise.all([
    call("updateUser", { user, name: "Alice" }),
    call("updateUser", { user, email: "a@b.example" }),
    call("updateUser", { user, role: "author" }),
    call("lockUser", { user }),
  ]);
  const { name, email, role, locked } = await call("showUser", { user });
  assert.equal([name, email, role, locked !== null], ["Alice", "a@b.example", "author", true]);
  const names = await Promise.allSettled(["a", "a", "a"].map((username) => call("addUser", { username })));
  assert.is(names.filter(({ status }) => status === "fulfilled").length, 1);
  assert.equal(
    names.flatMap((each) => each.status === "rejected" ? [each.reason.status] : []),
    [409, 409],
  );
});

test("sessions and grants are listed by last use, and end one by one or all", async () => {
  const { call, refuse, store, events } = newAdmin();
  const { id: user } = await call("addUser", { username: "alice" });
  const session = { user, auth_time: 0, acr: "password", agent: "browser" };
  const grant = { user, client_id: "app", scope: "read", until: 9e15 };
  for (const [i, name] of ["first", "second", "third"].entries()) {
    const times = { created: i, seen: i };
    await store.commit({
      set: [
        { key: ["session", name], value: { ...session, ...times, id: name } },
        { key: ["user_session", user, name], value: true },
        { key: ["grant", name], value: { ...grant, created: i } },
        { key: ["user_grant", user, name], value: true },
      ],
    });
  }
  const idsOf = async (operation: string, input: object = {}) => {
    const { data } = await call(operation, { user: "alice", ...input });
    return data.map(({ id }: { id: string }) => id);
  };
  for (
    const [list, end, name] of [["listSessions", "endSession", "session"], [
      "listGrants",
      "endGrant",
      "grant",
    ]]
  ) {
    assert.equal(await idsOf(list!), ["third", "second", "first"]);
    const { next_page } = await call(list!, { user, limit: 2 });
    assert.equal(await idsOf(list!, { page: next_page }), ["first"]);
    assert.equal(await idsOf(list!, { search: "seco" }), ["second"]);
    await call(end!, { user, [name!]: "second" });
    assert.equal(await idsOf(list!), ["third", "first"]);
    assert.is((await refuse(end!, { user, [name!]: "second" }))[0], 404);
    assert.is((await refuse(list!, {}))[0], 400);
    assert.is((await refuse(list!, { user: "nobody" }))[0], 404);
  }
  await call("endSessions", { user: "alice" });
  assert.equal(await idsOf("listSessions"), []);
  assert.equal(
    events.flatMap((event) => event.type === "admin_changed" ? [[event.operation, event.subject]] : []).slice(
      1,
    ),
    [["endSession", "second"], ["endGrant", "second"], ["endSessions", user]],
  );
});

test("a change that the store may have made before it failed is in the events, as uncertain", async () => {
  const cases: readonly (readonly [name: string, input: object, fail: (store: Store) => void])[] = [
    ["setPassword", { user: "ada", end_sessions: true }, (store) => void interruptAfter(store, 1)],
    ["removeUser", { user: "ada" }, (store) => void loseNextResponse(store, "user")],
    ["addKey", { name: "ci" }, (store) => void loseNextResponse(store, "api_key")],
  ];
  for (const [name, input, fail] of cases) {
    const { call, store, events } = newAdmin();
    await call("addUser", { username: "ada", password: "correct" });
    events.length = 0;
    fail(store);
    const error = await call(name, input).catch((error) => error);
    assert.instance(error, StoreUnavailableError, name);
    const subject = name === "addKey" ? "unknown" : "ada";
    const actor = "key_test";
    assert.equal(
      events,
      [{ type: "admin_changed", operation: name, subject, actor, uncertain: true }],
      name,
    );
  }
});

test("an operation that is refused or that reads is no change, also when the store fails", async () => {
  const { call, refuse, store, events } = newAdmin();
  assert.is((await refuse("removeUser", { user: "nobody" }))[0], 404);
  const { list } = store;
  Object.assign(store, { list: () => Promise.reject(new StoreUnavailableError("fails in this test")) });
  assert.instance(await call("listUsers").catch((error) => error), StoreUnavailableError);
  Object.assign(store, { list });
  assert.equal(events, []);
});

test.run();
