/**
 * Users who sign in here: adding, finding, listing, removing, and checking a password.
 *
 * @module
 */
import { hashPassword, ITERATIONS, verifyPassword } from "../crypto/password.ts";
import { randomId } from "../crypto/secret.ts";
import { compareAndSet, listAll, type Store } from "../store/store.ts";
import type { AuthorizationServer } from "./authorization_server.ts";
import { type Profile, profileKey, type User, userKey, usernameKey } from "./records.ts";

export interface UserRegistration {
  readonly username: string;
  readonly password: string;
  /** @default the user name */
  readonly name?: string | undefined;
  /** @default empty */
  readonly email?: string | undefined;
}

/** Longer ones are refused before they cost a hash. */
const LONGEST_PASSWORD = 1024;

/**
 * Adds a user.
 * @param iterations of PBKDF2, for tests
 * @throws {TypeError} when a member cannot stand or the name is taken
 */
export async function addUser(
  store: Store,
  { username, password, name = username, email = "" }: UserRegistration,
  iterations: number = ITERATIONS,
): Promise<User> {
  // deno-lint-ignore no-control-regex
  if (!/^[^\u0000-\u0020\u007f][^\u0000-\u001f\u007f]{0,127}$/.test(username)) {
    throw new TypeError(
      "Cannot add user: the user name must be 1 to 128 characters without control characters",
    );
  }
  if (password === "" || password.length > LONGEST_PASSWORD) {
    throw new TypeError(
      `Cannot add user "${username}": the password must be 1 to ${LONGEST_PASSWORD} characters`,
    );
  }
  const id = randomId("user_");
  const hash = await hashPassword(password, iterations);
  const user: User = { id, username, name, email, password: hash, created: Date.now() };
  const index = usernameKey(canonicalUsername(username));
  const added = await store.commit({
    check: [{ key: index, version: null }],
    set: [{ key: index, value: id }, { key: userKey(id), value: user }],
  });
  if (!added) throw new TypeError(`Cannot add user "${username}": the name is taken`);
  return user;
}

/** Somebody with this id, whether they sign in here or by the embedder's own means. */
export async function findUser(store: Store, id: string): Promise<Profile | undefined> {
  return (await store.get<User>(userKey(id)))?.value ?? (await store.get<Profile>(profileKey(id)))?.value;
}

/** Keeps what an embedder says of a user who is known elsewhere, so that later requests can tell it. */
export async function keepProfile(store: Store, { id, name, email }: Profile): Promise<void> {
  const kept = (await store.get<Profile>(profileKey(id)))?.value;
  if (kept?.name === name && kept.email === email) return;
  await store.commit({ set: [{ key: profileKey(id), value: { id, name, email } }] });
}

/** Every user, by id. */
export async function* listUsers(store: Store): AsyncGenerator<User> {
  for await (const { value } of listAll<User>(store, ["user"])) yield value;
}

/** Removes a user by name; `false` when there is none. Tokens and sessions of a missing user are refused. */
export async function removeUser(store: Store, username: string): Promise<boolean> {
  const index = await store.get<string>(usernameKey(canonicalUsername(username)));
  return index !== undefined && await store.commit({
    check: [{ key: index.key, version: index.version }],
    remove: [index.key, userKey(index.value)],
  });
}

/**
 * The user with this name and password. An unknown name takes as long as a wrong password. A hash with
 * fewer iterations than asked for today is renewed.
 */
export async function checkPassword(
  { store, passwordIterations }: AuthorizationServer,
  username: string,
  password: string,
): Promise<User | undefined> {
  const index = await store.get<string>(usernameKey(canonicalUsername(username)));
  const entry = index && await store.get<User>(userKey(index.value));
  if (password.length > LONGEST_PASSWORD) return undefined;
  const { valid, outdated } = await verifyPassword(password, entry?.value.password, passwordIterations);
  if (!entry || !valid) return undefined;
  if (outdated) {
    const renewed = { ...entry.value, password: await hashPassword(password, passwordIterations) };
    // Losing this race costs nothing: the next login renews it.
    await compareAndSet(store, entry.key, entry.version, renewed);
  }
  return entry.value;
}

/** Names that look alike are one: compatibility-normalised and without case. */
export function canonicalUsername(username: string): string {
  return username.normalize("NFKC").toLowerCase();
}
