/**
 * The users of this server: adds, finds, lists and removes them, and verifies passwords.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import { ITERATIONS, passwords } from "../../crypto/password.ts";
import { randomId } from "../../crypto/secret.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { compareAndSet, listAll, type Store, timeOf } from "../../store/store.ts";
import type { AuthorizationServer } from "../authorization_server.ts";
import { findOwner } from "../sign_in/account_record.ts";
import type { NOT_VERIFIED, PasswordAttempt } from "./password_queue.ts";
import {
  type Profile,
  profileKey,
  type User,
  userKey,
  usernameKey,
  type UserRole,
} from "../records/user_record.ts";
import { MAX_PASSWORD_CHARACTERS } from "./password_policy.ts";
import { checkUserRole } from "./user_role.ts";
import { canonicalUsername, checkUsername, USERNAME_RULES } from "./username.ts";

export { canonicalUsername };

/** A new user. */
export interface UserRegistration {
  readonly username: string;
  readonly password: string;
  /** @default the user name */
  readonly name?: string | undefined;
  /** @default empty */
  readonly email?: string | undefined;
  /** @default the option `defaultRole` of the server */
  readonly role?: UserRole | undefined;
}

const NAMES: Names<UserRegistration> = {
  username: "string",
  password: "string",
  name: "string",
  email: "string",
  role: "unknown",
};

/**
 * Adds a user.
 * @param iterations of PBKDF2, for tests
 * @throws {TypeError} when a member is invalid or the name is taken
 */
export async function addUser(
  store: Store,
  registration: UserRegistration,
  iterations: number = ITERATIONS,
): Promise<User> {
  checkNames("addUser", registration, NAMES);
  const { username, password, name = username, email = "", role } = registration;
  const problem = checkUsername(username);
  if (problem !== undefined) throw new TypeError(`Cannot add user: ${USERNAME_RULES[problem]}`);
  if (password === "" || password.length > MAX_PASSWORD_CHARACTERS) {
    throw new TypeError(
      `Cannot add user "${username}": the password must be 1 to ${MAX_PASSWORD_CHARACTERS} characters`,
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
    created: timeOf(store),
  };
  const index = usernameKey(canonicalUsername(username));
  const added = await store.commit({
    check: [{ key: index, version: null }],
    set: [{ key: index, value: id }, { key: userKey(id), value: user }],
  });
  if (!added) throw new TypeError(`Cannot add user "${username}": the name is taken`);
  return user;
}

/** The id of the account with this user name, in any spelling; `undefined` when there is none. */
export async function findUserId(store: Store, username: string): Promise<string | undefined> {
  return (await store.get<string>(usernameKey(canonicalUsername(username))))?.value;
}

/** The user with this id: of this server, or of the `authenticateUser` option. A locked one counts as absent. */
export async function findUser(store: Store, id: string): Promise<Profile | undefined> {
  const user = await findUserOrLocked(store, id);
  return user?.locked === undefined ? user : undefined;
}

/** As {@linkcode findUser}, and a locked user too. */
export async function findUserOrLocked(store: Store, id: string): Promise<Profile | undefined> {
  return (await findOwner(store, id))?.value;
}

/**
 * Stores the profile of a user whom `authenticateUser` or a trusted issuer identified.
 * @param now milliseconds since the epoch
 * @returns whether the user may sign in: `false` for a locked one
 */
export async function saveProfile(
  store: Store,
  { id, name, email, email_verified, username, role }: Profile,
  now: number = timeOf(store),
): Promise<boolean> {
  const key = profileKey(id);
  return await retryLostRaces(async () => {
    const entry = await store.get<Profile>(key);
    const stored = entry?.value;
    // The id may be that of a user of this server: what changes one then changes both records (`user_changes.ts`).
    const own = stored ? undefined : (await store.get<User>(userKey(id)))?.value;
    const locked = (stored ?? own)?.locked;
    // Where the other system gives no role, the one that an operator gave stays.
    const given = role ?? stored?.assigned_role;
    if (
      stored?.name === name && stored.email === email && stored.email_verified === email_verified &&
      stored.username === username && stored.role === given
    ) return locked === undefined;
    // What others decide stays: that the account is locked, the scopes that groups give.
    const { role: _, email_verified: __, username: ___, ...kept } = stored ?? {};
    const value: Profile = {
      ...kept,
      ...(!stored && { known_since: own?.created ?? now }),
      ...(locked !== undefined && { locked }),
      id,
      name,
      email,
      ...(email_verified !== undefined && { email_verified }),
      ...(username !== undefined && { username }),
      ...(given !== undefined && { role: checkUserRole(given) }),
      updated: now,
    };
    const done = await store.commit({
      check: [{ key, version: entry?.version ?? null }],
      set: [{ key, value }],
    });
    return done ? locked === undefined : LOST_RACE;
  });
}

/**
 * Changes the role of a user, also for what the user granted before.
 * @returns `false` when the user does not exist
 * @throws {TypeError} for an unknown role
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

/** All users, in the order of their ids. */
export async function* listUsers(store: Store): AsyncGenerator<User> {
  for await (const { value } of listAll<User>(store, ["user"])) yield value;
}

/**
 * The user with this name and password; `NOT_VERIFIED` when too many attempts wait. A password that was verified recently
 * needs no hash. Else an unknown name takes as long as a wrong password. A hash with fewer iterations than configured is
 * renewed.
 */
export async function checkPassword(
  as: AuthorizationServer,
  username: string,
  password: string,
  attempt: PasswordAttempt,
): Promise<User | undefined | typeof NOT_VERIFIED> {
  const { store, passwords, passwordIterations, passwordMemory, passwordQueue } = as;
  const index = await store.get<string>(usernameKey(canonicalUsername(username)));
  const found = index && await store.get<User>(userKey(index.value));
  // A locked user is refused as an unknown one is, and as slowly.
  const entry = found?.value.locked === undefined ? found : undefined;
  if (password.length > MAX_PASSWORD_CHARACTERS) return undefined;
  const hash = entry?.value.password;
  if (passwordMemory.knows(password, hash)) return entry!.value;
  return await passwordQueue.run(attempt, async () => {
    const { valid, outdated, unsupported } = await passwords.verify(password, hash, passwordIterations);
    if (unsupported) {
      const message = `The password hash of ${entry!.value.id} has more iterations than this platform allows`;
      as.observe({ type: "fault", where: "oauth", error: new Error(message) });
    }
    if (!entry || !valid) return undefined;
    let user = entry.value;
    if (outdated) {
      const renewed = { ...user, password: await passwords.hash(password, passwordIterations) };
      // After a lost race the next login renews it.
      if (await compareAndSet(store, entry.key, entry.version, renewed)) user = renewed;
    }
    passwordMemory.remember(password, user.password);
    return user;
  });
}
