/**
 * Changes to users: password, name, e-mail address, role, and whether the account is locked. None of them ends sessions or
 * grants (`user_sessions.ts`, `user_grants.ts`).
 *
 * @module
 */
import { ITERATIONS, passwords } from "../../crypto/password.ts";
import { checkNames, checkWhole, type Names } from "../../options/option_check.ts";
import { LOST_RACE, retryLostRaces } from "../../store/retry.ts";
import { type Check, type Commit, type Entry, type Store, timeOf } from "../../store/store.ts";
import {
  type Profile,
  profileKey,
  type User,
  userKey,
  usernameKey,
  type UserRole,
  verifiedEmailKey,
} from "../records/user_record.ts";
import { findOwner } from "../sign_in/account_record.ts";
import { canonicalEmail } from "./email_address.ts";
import {
  checkNewPassword,
  completePasswordPolicy,
  MAX_PASSWORD_CHARACTERS,
  type PasswordPolicy,
  type PasswordProblem,
} from "./password_policy.ts";
import { canonicalUsername } from "./username.ts";
import { checkUserRole } from "./user_role.ts";

/** What an operator accepts: they may choose any password for a user. */
const ANY_PASSWORD: PasswordPolicy = { minLength: 1, maxLength: MAX_PASSWORD_CHARACTERS };
/** Characters of a name or an e-mail address. */
const MAX_TEXT_CHARACTERS = 256;

/** What `updateUser` changes; what is left out stays. */
export interface UserChanges {
  /** Up to 256 characters. */
  readonly name?: string | undefined;
  /** Up to 256 characters; empty for none. A new address is not verified. */
  readonly email?: string | undefined;
  /** Limits at once what the user granted before, too. */
  readonly role?: UserRole | undefined;
}

const CHANGE_NAMES: Names<UserChanges> = { name: "string", email: "string", role: "unknown" };

/** Options of {@linkcode setPassword}. */
export interface PasswordOptions {
  /** The rules for the password. @default any from 1 to 1024 characters */
  readonly policy?: PasswordPolicy | undefined;
  /** Of PBKDF2, for tests. */
  readonly iterations?: number;
}

const PASSWORD_NAMES: Names<PasswordOptions> = { policy: "object", iterations: "number" };

/** What the commit of a change checks beside the record that it changes; rejects to refuse the change. */
export type Conditions = (user: User | Profile) => Promise<readonly Check[]>;

/** What the commit of a change does besides. */
export type ChangesBeside = Pick<Commit, "set" | "remove">;

const UNCONDITIONAL: Conditions = () => Promise.resolve([]);

/**
 * A user, locked or not, by id or user name. A user name that looks like the id of another user finds that other user: ids
 * are given once.
 */
export async function findAccount(store: Store, user: string): Promise<User | Profile | undefined> {
  return (await findAccountEntry(store, user))?.value;
}

/**
 * Sets the password of a user with a user name. Sessions and grants stay; a login that verified the old password before is
 * refused only after `endUserSessions`.
 * @param user the user name, or the id
 * @returns `undefined` when it is set, or why it is not
 * @throws {TypeError} for an option that does not exist
 */
export async function setPassword(
  store: Store,
  user: string,
  password: string,
  options: PasswordOptions = {},
): Promise<PasswordProblem | "unknown_user" | undefined> {
  checkNames("setPassword", options, PASSWORD_NAMES);
  const { iterations = ITERATIONS } = options;
  checkWhole("setPassword.iterations", iterations, 1);
  const policy = options.policy ? completePasswordPolicy(options.policy, "setPassword.policy") : ANY_PASSWORD;
  const found = await findAccountEntry(store, user);
  if (!found || !isUser(found.value)) return "unknown_user";
  const problem = await checkNewPassword(policy, password, found.value);
  if (problem !== undefined) return problem;
  const hash = await passwords.hash(password, iterations);
  const done = await change(store, user, (value) => {
    return isUser(value) ? withPassword(value, hash, timeOf(store)) : undefined;
  });
  return done ? undefined : "unknown_user";
}

/**
 * Replaces the password of a user who proved that they know it, or who has none.
 * @param before the hash that was verified, or that of the user without a password
 * @param hash the new one
 * @param also what the same commit changes
 * @returns `false` when the password was changed meanwhile, or the account locked or removed
 */
export function replacePassword(
  store: Store,
  id: string,
  before: string,
  hash: string,
  also: ChangesBeside,
): Promise<boolean> {
  return change(
    store,
    id,
    (value) => {
      const isSame = isUser(value) && value.id === id && value.password === before &&
        value.locked === undefined;
      return isSame ? withPassword(value, hash, timeOf(store)) : undefined;
    },
    UNCONDITIONAL,
    () => also,
  );
}

/**
 * Changes name, e-mail address or role. What an identity provider says replaces it at the next sign-in there; a role stays
 * where the provider gives none.
 * @param user the user name, or the id
 * @returns `false` when the user does not exist
 * @throws {TypeError} for an unknown role, an empty name, a text with control characters or over 256 characters, or a member
 * that does not exist
 */
export function updateUser(store: Store, user: string, changes: UserChanges): Promise<boolean> {
  return updateUserIf(store, user, changes, UNCONDITIONAL);
}

/** As {@linkcode updateUser}, under conditions. */
export async function updateUserIf(
  store: Store,
  user: string,
  changes: UserChanges,
  conditions: Conditions,
): Promise<boolean> {
  checkNames("updateUser", changes, CHANGE_NAMES);
  const { name, email, role } = changes;
  if (role !== undefined) checkUserRole(role);
  if (name !== undefined) checkText("name", name, 1);
  if (email !== undefined) checkText("e-mail address", email, 0);
  const next = (value: User | Profile): User | Profile => {
    const isNewAddress = email !== undefined && email !== value.email;
    const isNewName = name !== undefined && name !== value.name;
    // Of a user of either kind the members that differ in type are kept as they are.
    const { email_verified: verified, ...rest } = value as User;
    return {
      ...rest,
      ...(!isNewAddress && verified !== undefined && { email_verified: verified }),
      ...(name !== undefined && { name }),
      ...(email !== undefined && { email }),
      ...(role !== undefined && { role }),
      ...(role !== undefined && !isUser(value) && { assigned_role: role }),
      ...((isNewAddress || isNewName) && { updated: timeOf(store) }),
    };
  };
  // While an address is verified, its entry is of this user.
  const also = ({ email: before, email_verified: verified }: User | Profile): ChangesBeside =>
    verified !== undefined && email !== undefined && email !== before
      ? { remove: [verifiedEmailKey(canonicalEmail(before))] }
      : {};
  return await change(store, user, next, conditions, also);
}

/**
 * Locks an account: login answers as for a wrong password, and sessions, tokens, codes and refresh tokens are refused
 * (`liveness_test.ts`), except signed access tokens at resource servers that verify them alone.
 * @param user the user name, or the id
 * @returns `false` when the user does not exist
 */
export function lockUser(store: Store, user: string): Promise<boolean> {
  return lockUserIf(store, user, UNCONDITIONAL);
}

/** As {@linkcode lockUser}, under conditions. */
export function lockUserIf(store: Store, user: string, conditions: Conditions): Promise<boolean> {
  return change(store, user, (value) => ({ ...value, locked: value.locked ?? timeOf(store) }), conditions);
}

/**
 * Unlocks an account. Its sessions and tokens that have not expired are valid again.
 * @param user the user name, or the id
 * @returns `false` when the user does not exist
 */
export function unlockUser(store: Store, user: string): Promise<boolean> {
  return change(store, user, ({ locked: _, ...value }) => value);
}

/** @param next the new record, from the present one; `undefined` changes nothing */
async function change(
  store: Store,
  user: string,
  next: (value: User | Profile) => User | Profile | undefined,
  conditions: Conditions = UNCONDITIONAL,
  also: (value: User | Profile) => ChangesBeside = () => ({}),
): Promise<boolean> {
  return await retryLostRaces(async () => {
    const entry = await findAccountEntry(store, user);
    const value = entry && next(entry.value);
    if (!value) return false;
    const { key, version } = entry;
    const check = [{ key, version }, ...await conditions(entry.value)];
    const { set = [], remove = [] } = also(entry.value);
    // A user of this server whom another system names, too, has two records.
    const other = isUser(entry.value) ? await store.get<Profile>(profileKey(entry.value.id)) : undefined;
    const otherValue = other && next(other.value);
    if (otherValue) check.push({ key: other.key, version: other.version });
    return await store.commit({
      check,
      set: [{ key, value }, ...otherValue ? [{ key: other.key, value: otherValue }] : [], ...set],
      remove,
    }) || LOST_RACE;
  });
}

/** As {@linkcode findAccount}, with the key and the version of the record. */
export async function findAccountEntry(
  store: Store,
  user: string,
): Promise<Entry<User | Profile> | undefined> {
  const entry = await findOwner(store, user);
  if (entry) return entry;
  // Last, because people choose their user names, also one that is the id of another user.
  const index = await store.get<string>(usernameKey(canonicalUsername(user)));
  return index && await store.get<User>(userKey(index.value));
}

/** Whether the user has a user name here, not only at an identity provider. */
export function isUser(user: User | Profile): user is User {
  return "password" in user;
}

/** The user with another password. @param hash of the password */
export function withPassword({ passwordless: _, ...user }: User, hash: string, now: number): User {
  return { ...user, password: hash, password_changed: now };
}

function checkText(what: string, text: string, min: number): void {
  // deno-lint-ignore no-control-regex
  if (text.length >= min && text.length <= MAX_TEXT_CHARACTERS && !/[\u0000-\u001f\u007f]/.test(text)) return;
  throw new TypeError(
    `Cannot change the ${what}: it must be ${min} to ${MAX_TEXT_CHARACTERS} characters without control characters`,
  );
}
