/**
 * Users who sign in here: adding, finding, listing, removing, and checking a password.
 *
 * @module
 */
import { ITERATIONS, passwords } from "../../crypto/password.ts";
import { randomId } from "../../crypto/secret.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { compareAndSet, listAll, type Store } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import type { Claimant, TURNED_AWAY } from "./password_queue.ts";
import { type Profile, profileKey, type User, userKey, usernameKey, type UserRole } from "../records.ts";
import { checkUserRole } from "./user_role.ts";

export interface UserRegistration {
  readonly username: string;
  readonly password: string;
  /** @default the user name */
  readonly name?: string | undefined;
  /** @default empty */
  readonly email?: string | undefined;
  /** What the user may let applications do. @default the server's option `defaultRole` */
  readonly role?: UserRole | undefined;
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
  { username, password, name = username, email = "", role }: UserRegistration,
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
  if (role !== undefined) checkUserRole(role);
  const id = randomId("user_");
  const hash = await passwords.hash(password, iterations);
  const user: User = {
    id,
    username,
    name,
    email,
    ...(role !== undefined && { role }),
    password: hash,
    created: Date.now(),
  };
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
export async function keepProfile(store: Store, { id, name, email, role }: Profile): Promise<void> {
  const kept = (await store.get<Profile>(profileKey(id)))?.value;
  if (kept?.name === name && kept.email === email && kept.role === role) return;
  const value: Profile = { id, name, email, ...(role !== undefined && { role: checkUserRole(role) }) };
  await store.commit({ set: [{ key: profileKey(id), value }] });
}

/**
 * Gives a user another role, which holds from now on for what they granted before as well; `false` when there is no user of
 * this name. @throws {TypeError} for a word that is no role
 */
export async function setUserRole(store: Store, username: string, role: UserRole): Promise<boolean> {
  checkUserRole(role);
  const index = await store.get<string>(usernameKey(canonicalUsername(username)));
  if (!index) return false;
  return await retryLostRaces(async () => {
    const entry = await store.get<User>(userKey(index.value));
    if (!entry) return false;
    const value: User = { ...entry.value, role };
    return await compareAndSet(store, entry.key, entry.version, value) || LOST_RACE;
  });
}

/** Every user, by id. */
export async function* listUsers(store: Store): AsyncGenerator<User> {
  for await (const { value } of listAll<User>(store, ["user"])) yield value;
}

/** Removes a user by name; `false` when there is none. With the user end all their tokens, codes and sessions (`liveness.ts`). */
export async function removeUser(store: Store, username: string): Promise<boolean> {
  const index = await store.get<string>(usernameKey(canonicalUsername(username)));
  return index !== undefined && await store.commit({
    check: [{ key: index.key, version: index.version }],
    remove: [index.key, userKey(index.value)],
  });
}

/**
 * The user with this name and password; `TURNED_AWAY` when too many others wait for a check. A password that was right
 * lately is known at once; for any other an unknown name takes as long as a wrong password. A hash with fewer iterations
 * than asked for today is renewed.
 */
export async function checkPassword(
  as: AuthorizationServer,
  username: string,
  password: string,
  claimant: Claimant,
): Promise<User | undefined | typeof TURNED_AWAY> {
  const { store, passwords, passwordIterations, passwordMemory, passwordQueue } = as;
  const index = await store.get<string>(usernameKey(canonicalUsername(username)));
  const entry = index && await store.get<User>(userKey(index.value));
  if (password.length > LONGEST_PASSWORD) return undefined;
  const hash = entry?.value.password;
  if (passwordMemory.knows(password, hash)) return entry!.value;
  return await passwordQueue.run(claimant, async () => {
    const { valid, outdated, unsupported } = await passwords.verify(password, hash, passwordIterations);
    if (unsupported) {
      const message = `The password hash of ${entry!.value.id} has more iterations than this platform allows`;
      as.observe({ type: "fault", where: "oauth", error: new Error(message) });
    }
    if (!entry || !valid) return undefined;
    if (!outdated) passwordMemory.remember(password, hash!);
    else {
      const renewed = { ...entry.value, password: await passwords.hash(password, passwordIterations) };
      // Losing this race costs nothing: the next login renews it.
      const done = await compareAndSet(store, entry.key, entry.version, renewed);
      passwordMemory.remember(password, done ? renewed.password : hash!);
    }
    return entry.value;
  });
}

/** Names that look alike are one: compatibility-normalised and without case. */
export function canonicalUsername(username: string): string {
  return username.normalize("NFKC").toLowerCase();
}
