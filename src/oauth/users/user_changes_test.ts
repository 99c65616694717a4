import { suite } from "uvu";
import * as assert from "uvu/assert";
import { verifiedEmailKey } from "../records/user_record.ts";
import { layeredStore } from "../../store/drivers/layered.ts";
import { memoryStore } from "../../store/drivers/memory.ts";
import { newServer, type TestServer } from "../test_server.ts";
import { findAccount, lockUser, setPassword, unlockUser, updateUser } from "./user_changes.ts";
import type { UserRole } from "../records/user_record.ts";
import { removeUser } from "./remove_user.ts";
import { addUser, listUsers, saveProfile } from "./user.ts";
import { endUserSessions } from "./user_sessions.ts";

const test = suite("oauth/user_changes");
const ITERATIONS = { iterations: 1000 };

const login = async (server: TestServer, password: string, headers: Record<string, string> = {}) =>
  await server.send("/login", { form: { username: "alice", password }, headers });
const isSignedIn = async (server: TestServer, cookie: string) =>
  (await server.send(server.authorizePath(), { headers: { cookie } })).status === 200;

test("a new password replaces the old one, by user name and by id", async () => {
  const server = await newServer();
  assert.is((await login(server, "wonderland")).status, 200);
  const before = server.now();
  assert.is(await setPassword(server.store, "ALICE", "looking-glass", ITERATIONS), undefined);
  assert.equal([(await login(server, "wonderland")).status, (await login(server, "looking-glass")).status], [
    401,
    200,
  ]);
  const [user] = await Array.fromAsync(listUsers(server.store));
  assert.ok(user!.password_changed! >= before);
  assert.is(await setPassword(server.store, user!.id, "third", ITERATIONS), undefined);
  assert.is((await login(server, "third")).status, 200);
  assert.not.match(JSON.stringify(server.events), /looking-glass|third/);
});

test("attack: a user name that is the id of another user takes no change that is for that user", async () => {
  const { store } = await newServer();
  for (const id of ["user_EcXthEQ3FzhAEqJuV4ngYQ", "17"]) {
    await saveProfile(store, { id, name: "Jane", email: "" }, 1);
    const mallory = await addUser(store, { username: id, password: "m" }, 1000);
    await updateUser(store, id, { role: "admin" });
    assert.equal(
      [await findAccount(store, id), await findAccount(store, mallory.id)].map((user) => user!.role),
      [
        "admin",
        undefined,
      ],
    );
    await lockUser(store, id);
    assert.is((await findAccount(store, mallory.id))!.locked, undefined);
    assert.is(await removeUser(store, id), true);
    assert.is((await findAccount(store, id))!.id, mallory.id);
  }
});

test("the policy decides; without one any password from 1 to 1024 characters is good", async () => {
  const server = await newServer();
  const { store } = server;
  const policy = { minLength: 12, maxLength: 64, isBreached: (text: string) => text === "correct horse" };
  const set = (password: string) => setPassword(store, "alice", password, { policy, ...ITERATIONS });
  assert.is(await set("short"), "too_short");
  assert.is(await set("x".repeat(65)), "too_long");
  assert.is(await set("correct horse"), "breached");
  assert.is(await set("alice@example.com"), "same_as_name");
  assert.is((await login(server, "wonderland")).status, 200, "the old password");
  assert.is(await set("a long enough one"), undefined);
  assert.is(await setPassword(store, "alice", "", ITERATIONS), "too_short");
  assert.is(await setPassword(store, "alice", "x".repeat(1025), ITERATIONS), "too_long");
  assert.is(await setPassword(store, "alice", "a", ITERATIONS), undefined);
  assert.is(await setPassword(store, "unknown", "a", ITERATIONS), "unknown_user");
});

test("a user without a user name has no password", async () => {
  const { store } = await newServer();
  await saveProfile(store, { id: "user_linked", name: "Linked", email: "" });
  assert.is(await setPassword(store, "user_linked", "a password", ITERATIONS), "unknown_user");
});

test("a new password ends no session; the end of all sessions does", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  await setPassword(server.store, "alice", "looking-glass", ITERATIONS);
  assert.ok(await isSignedIn(server, cookie));
  const [user] = await Array.fromAsync(listUsers(server.store));
  assert.is(await endUserSessions(server.store, user!.id), 1);
  assert.not.ok(await isSignedIn(server, cookie));
});

test("name, e-mail address and role change alone; a new address is not verified", async () => {
  const { store } = await newServer();
  const [before] = await Array.fromAsync(listUsers(store));
  const key = ["user", before!.id];
  await store.commit({ set: [{ key, value: { ...before, email_verified: 5 } }] });
  assert.is(await updateUser(store, "alice", { name: "Alice P. Liddell" }), true);
  const { updated, ...renamed } = (await findAccount(store, "alice"))!;
  assert.equal(renamed, { ...before, email_verified: 5, name: "Alice P. Liddell" });
  assert.ok(updated! >= before!.created);
  assert.is(await updateUser(store, before!.id, { email: before!.email, role: "author" }), true);
  assert.is((await findAccount(store, "alice") as typeof before)!.email_verified, 5);
  assert.is(await updateUser(store, "alice", { email: "liddell@example.com" }), true);
  const after = await findAccount(store, "alice");
  const { updated: _, ...changed } = after!;
  assert.equal(changed, {
    ...before,
    name: "Alice P. Liddell",
    role: "author",
    email: "liddell@example.com",
  });
  assert.is(await updateUser(store, "unknown", { name: "x" }), false);
  for (
    const changes of [{ name: "" }, { name: "a\nb" }, { email: "x".repeat(257) }, { role: "boss" as "admin" }]
  ) {
    let thrown: unknown;
    try {
      await updateUser(store, "alice", changes);
    } catch (error) {
      thrown = error;
    }
    assert.instance(thrown, TypeError, JSON.stringify(changes));
  }
  assert.equal(await findAccount(store, "alice"), after);
});

test("a new address takes the entry of the verified one with it", async () => {
  const { store } = await newServer();
  const [alice] = await Array.fromAsync(listUsers(store));
  const entry = { key: verifiedEmailKey("alice@example.com"), value: alice!.id };
  await store.commit({
    set: [{ key: ["user", alice!.id], value: { ...alice, email_verified: 5 } }, entry],
  });
  await updateUser(store, "alice", { email: "liddell@example.com" });
  assert.is(await store.get(entry.key), undefined);
  // Of an address that is not verified the entry is of another user.
  const other = { key: verifiedEmailKey("liddell@example.com"), value: "user_2" };
  await store.commit({ set: [other] });
  await updateUser(store, "alice", { email: "alice@example.com" });
  assert.is((await store.get(other.key))!.value, "user_2");
});

test("a locked user hears what a wrong password hears, and is the same user when unlocked", async () => {
  const server = await newServer();
  const cookie = await server.signIn();
  assert.is(await lockUser(server.store, "alice"), true);
  const answer = async (username: string, password: string) => {
    const form = { username, password };
    const response = await server.send("/login", { form, headers: { accept: "text/html" } });
    const fields = [...response.headers].filter(([name]) => name !== "content-length");
    return { status: response.status, fields, text: (await response.text()).replaceAll(username, "USER") };
  };
  const locked = await answer("alice", "wonderland");
  assert.is(locked.status, 401);
  assert.equal(locked, await answer("alice", "wrong"));
  assert.equal(locked, await answer("other", "wonderland"));
  assert.not.ok(await isSignedIn(server, cookie));
  const { locked: since } = (await findAccount(server.store, "alice"))!;
  assert.is(await lockUser(server.store, "alice"), true);
  assert.is((await findAccount(server.store, "alice"))!.locked, since, "the first time stays");
  assert.is(await unlockUser(server.store, "alice"), true);
  assert.equal([(await login(server, "wonderland")).status, await isSignedIn(server, cookie)], [200, true]);
  assert.equal([await lockUser(server.store, "unknown"), await unlockUser(server.store, "unknown")], [
    false,
    false,
  ]);
});

test("a user of authenticateUser stays locked when they sign in again with another name", async () => {
  let name = "One";
  const server = await newServer({
    authenticateUser: () => Promise.resolve({ id: "one", name, email: "" }),
  });
  const cookie = (await login(server, "x")).headers.get("set-cookie")!.split(";")[0]!;
  assert.is(await lockUser(server.store, "one"), true);
  name = "Another";
  const refused = await login(server, "x");
  assert.equal([refused.status, refused.headers.getSetCookie()], [401, []]);
  assert.is((await findAccount(server.store, "one"))!.name, "Another");
  assert.not.ok(await isSignedIn(server, cookie));
  await unlockUser(server.store, "one");
  assert.is((await login(server, "x")).status, 200);
});

test("a user name that is the id of another user finds that other user", async () => {
  const { store } = await newServer();
  const [alice] = await Array.fromAsync(listUsers(store));
  await addUser(store, { username: alice!.id, password: "x" }, 1000);
  assert.is((await findAccount(store, alice!.id))!.id, alice!.id);
});

test("of concurrent changes none is lost", async () => {
  const { store } = await newServer();
  await Promise.all([
    updateUser(store, "alice", { name: "A" }),
    updateUser(store, "alice", { email: "a@example.com" }),
    lockUser(store, "alice"),
    setPassword(store, "alice", "new", ITERATIONS),
    updateUser(store, "alice", { role: "admin" }),
  ]);
  const [alice] = await Array.fromAsync(listUsers(store));
  const { name, email, role, locked, password_changed } = alice!;
  assert.equal([name, email, role], ["A", "a@example.com", "admin"]);
  assert.equal([typeof locked, typeof password_changed], ["number", "number"]);
});

test("a lock reaches an instance with a cache within its lifetime", async () => {
  const inner = memoryStore();
  const [one, other] = await Promise.all(
    [1, 2].map(() => newServer({ store: layeredStore(inner, { lifetime: 50 }) })),
  );
  const { access_token } = await one!.tokens({ scope: "profile" });
  const headers = { authorization: `Bearer ${access_token}` };
  assert.is((await other!.send("/api/user", { headers })).status, 200);
  await lockUser(one!.store, "alice");
  await new Promise((resolve) => setTimeout(resolve, 80));
  assert.is((await other!.send("/api/user", { headers })).status, 401);
});

test("a role that an operator gave a user of another system stays, unless that system gives one", async () => {
  const { store } = await newServer();
  const user = { id: "ext-1", name: "Jane", email: "" };
  const roleAfter = async (role?: UserRole) => {
    await saveProfile(store, { ...user, ...(role && { role }) });
    return (await findAccount(store, user.id))!.role;
  };
  assert.equal([await roleAfter(), await roleAfter("author"), await roleAfter()], [
    undefined,
    "author",
    undefined,
  ]);
  await updateUser(store, user.id, { role: "reader" });
  assert.equal([await roleAfter(), await roleAfter("admin"), await roleAfter()], [
    "reader",
    "admin",
    "reader",
  ]);
});

test.run();
