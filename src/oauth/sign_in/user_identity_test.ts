import { suite } from "uvu";
import * as assert from "uvu/assert";
import { memoryStore } from "../../store/drivers/memory.ts";
import type { UserRole } from "../records/user_record.ts";
import { removeUser } from "../users/remove_user.ts";
import { addUser } from "../users/user.ts";
import { findAccount, lockUser, updateUser } from "../users/user_changes.ts";
import { findLinkedUser, listLinkedUsers } from "./linked_account.ts";
import type { Identity } from "./provider.ts";
import { newBrowser, newProvider, newSignInServer, signIn } from "./test_provider.ts";
import { linkIdentity, listUserIdentities, MAX_IDENTITIES, unlinkIdentity } from "./user_identity.ts";

const test = suite("oauth/sign_in/user_identity");
const at = { provider: "oidc", now: 1 };
const signInAt = { ...at, role: undefined };
const usable = () => Promise.resolve(true);
const otherWay = () => Promise.resolve([]);
const noOtherWay = () => Promise.resolve(undefined);

function identity(subject: string, more: Partial<Identity> = {}): Identity {
  return { issuer: "https://idp.example", subject, emailVerified: false, groups: [], claims: {}, ...more };
}

async function newAlice() {
  const store = memoryStore();
  const { id } = await addUser(store, { username: "alice", password: "wonderland", name: "Alice" }, 1000);
  return { store, id };
}

test("half of a surrogate pair in a name becomes U+FFFD: strict JSON parsers refuse it", async () => {
  const { store, id } = await newAlice();
  for (const name of ["Jane \ud83d", "x".repeat(255) + "\u{1f600}"]) {
    const jane = identity(name, { name });
    assert.ok((await findLinkedUser(store, jane, signInAt)).name.isWellFormed());
    await linkIdentity(store, id, identity(`alice ${name}`, { name }), at);
  }
  for (const { label } of await listUserIdentities(store, id)) assert.match(label, /\ufffd$/);
});

test("a linked identity signs in to the account, whose name and role it does not change", async () => {
  const { store, id } = await newAlice();
  assert.is(await linkIdentity(store, id, identity("1", { name: "Jane" }), at), "linked");
  const user = await findLinkedUser(store, identity("1", { name: "Jane" }), { ...at, role: "admin" });
  assert.equal(user, { id, name: "Alice", email: "" });
  assert.equal(await listUserIdentities(store, id), [
    { issuer: "https://idp.example", subject: "1", provider: "oidc", linked: 1, label: "Jane" },
  ]);
  const [listed] = await Array.fromAsync(listLinkedUsers(store));
  assert.not.ok("password" in listed!);
  await lockUser(store, id);
  const locked = await findLinkedUser(store, identity("1"), { ...at, role: undefined });
  assert.is(typeof locked.locked, "number");
});

test("a role that an operator gave stays at the next sign-in, where the provider gives none", async () => {
  const store = memoryStore();
  const signIn = async (role?: UserRole) =>
    (await findLinkedUser(store, identity("1"), { ...at, role })).role;
  const { id } = await findLinkedUser(store, identity("1"), signInAt);
  await updateUser(store, id, { role: "admin" });
  assert.is(await signIn(), "admin");
  assert.is(await signIn("author"), "author");
  assert.is(await signIn(), "admin");
  await linkIdentity(store, id, identity("2"), at);
  assert.is(await unlinkIdentity(store, id, identity("2"), noOtherWay, usable), "unlinked");
  assert.is((await findAccount(store, id))!.role, "admin");
  assert.is(await signIn(), "admin");
});

test("the role of an invitation is that of the account, whichever identity signs in or is unlinked", async () => {
  const store = memoryStore();
  const permit = { check: [], remove: [], role: "author", created() {} } as const;
  const signIn = async (subject: string) =>
    (await findLinkedUser(store, identity(subject), signInAt, () => Promise.resolve(permit))).role;
  assert.is(await signIn("1"), "author");
  const [user] = await Array.fromAsync(listLinkedUsers(store));
  await linkIdentity(store, user!.id, identity("2"), at);
  assert.equal([await signIn("2"), await signIn("1")], ["author", "author"]);
  assert.is(await unlinkIdentity(store, user!.id, identity("1"), noOtherWay, usable), "unlinked");
  assert.is((await findAccount(store, user!.id))!.role, "author");
  assert.is(await signIn("2"), "author");
});

test("attack: the role of an invitation does not come back at the next sign-in after an operator took it", async () => {
  const store = memoryStore();
  const permit = { check: [], remove: [], role: "admin", created() {} } as const;
  const signIn = () => findLinkedUser(store, identity("1"), signInAt, () => Promise.resolve(permit));
  const { id, role } = await signIn();
  assert.is(role, "admin");
  await updateUser(store, id, { role: "reader" });
  assert.is((await signIn()).role, "reader");
});

test("the identity of another user is not linked, that of a removed user is", async () => {
  const { store, id } = await newAlice();
  const other = await findLinkedUser(store, identity("1"), signInAt);
  assert.is(await linkIdentity(store, id, identity("1"), at), "other_user");
  assert.is((await findLinkedUser(store, identity("1"), signInAt)).id, other.id);
  await lockUser(store, other.id);
  assert.is(await linkIdentity(store, id, identity("1"), at), "other_user", "a locked user");
  assert.is(await removeUser(store, other.id), true);
  assert.equal(await listUserIdentities(store, other.id), []);
  assert.is(await linkIdentity(store, id, identity("1"), at), "linked");
  assert.is(await removeUser(store, "alice"), true);
  assert.is.not((await findLinkedUser(store, identity("1"), signInAt)).id, id);
});

test("the number of identities is limited", async () => {
  const { store, id } = await newAlice();
  for (let i = 0; i < MAX_IDENTITIES; i++) await linkIdentity(store, id, identity(`${i}`), at);
  assert.is(await linkIdentity(store, id, identity("one more"), at), "too_many");
  assert.is(await linkIdentity(store, id, identity("3"), at), "linked");
  assert.is((await listUserIdentities(store, id)).length, MAX_IDENTITIES);
});

test("of concurrent links of one identity to two accounts one is made", async () => {
  const { store, id } = await newAlice();
  const { id: bob } = await addUser(store, { username: "bob", password: "b" }, 1000);
  const done = await Promise.all([id, bob].map((user) => linkIdentity(store, user, identity("1"), at)));
  assert.equal(done.sort(), ["linked", "other_user"]);
});

test("an identity is unlinked, and is another user's at the next sign-in", async () => {
  const { store, id } = await newAlice();
  await linkIdentity(store, id, identity("1"), at);
  assert.is(await unlinkIdentity(store, id, identity("2"), otherWay, usable), "unknown");
  assert.is(await unlinkIdentity(store, "user_other", identity("1"), otherWay, usable), "unknown");
  assert.is(await unlinkIdentity(store, id, identity("1"), otherWay, usable), "unlinked");
  assert.equal(await listUserIdentities(store, id), []);
  assert.is.not((await findLinkedUser(store, identity("1"), signInAt)).id, id);
});

test("the last way to sign in is not unlinked, also not by concurrent requests", async () => {
  const store = memoryStore();
  const { id } = await findLinkedUser(store, identity("1"), signInAt);
  assert.is(await unlinkIdentity(store, id, identity("1"), noOtherWay, usable), "last");
  await linkIdentity(store, id, identity("2"), { ...at, provider: "other" });
  // The server no longer has that provider.
  const hasOidc = (provider: string) => Promise.resolve(provider === "oidc");
  assert.is(await unlinkIdentity(store, id, identity("1"), noOtherWay, hasOidc), "last");
  const both = ["1", "2"].map((subject) => unlinkIdentity(store, id, identity(subject), noOtherWay, usable));
  assert.equal((await Promise.all(both)).sort(), ["last", "unlinked"]);
  assert.is((await listUserIdentities(store, id)).length, 1);
});

test("a user of this server without a password keeps one of two identities, too", async () => {
  const { store, id } = await newAlice();
  for (const subject of ["1", "2"]) await linkIdentity(store, id, identity(subject), at);
  const both = ["1", "2"].map((subject) => unlinkIdentity(store, id, identity(subject), noOtherWay, usable));
  assert.equal((await Promise.all(both)).sort(), ["last", "unlinked"]);
});

test("an account of an earlier version is listed after the next sign-in, with the label of today", async () => {
  const provider = await newProvider();
  const server = await newSignInServer(provider);
  await signIn(newBrowser(server), provider);
  const [user] = await Array.fromAsync(listLinkedUsers(server.store));
  const [index] = await server.store.list(["user_identity", user!.id]);
  await server.store.commit({ remove: [index!.key] });
  provider.claims["email"] = "new@example.com";
  await signIn(newBrowser(server), provider);
  assert.equal((await listUserIdentities(server.store, user!.id)).map(({ label }) => label), [
    "new@example.com",
  ]);
});

test.run();
