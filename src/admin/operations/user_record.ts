/**
 * Users as operations show and find them, and the rule that an administrator remains.
 *
 * @module
 */
import type { Profile, User, UserRole } from "../../oauth/records/user_record.ts";
import { findAccount, findAccountEntry } from "../../oauth/users/user_changes.ts";
import { findAdminBeside, isActiveAdmin } from "../../oauth/users/last_admin.ts";
import { USER_ROLES } from "../../oauth/users/user_role.ts";
import type { Check, Entry } from "../../store/store.ts";
import {
  type AdminContext,
  AdminError,
  COMMAND_LINE,
  notFound,
  type Schema,
  toIsoOrNull,
} from "../operation.ts";
import { flag, object, oneOf, orNull, text, time } from "../schema.ts";

/** A user in an answer. */
export interface AdminUser {
  readonly id: string;
  readonly username: string | null;
  readonly name: string;
  readonly email: string;
  readonly email_verified: boolean;
  readonly role: UserRole | null;
  readonly has_password: boolean;
  readonly created: string | null;
  readonly updated: string | null;
  readonly password_changed: string | null;
  readonly locked: string | null;
}

/** The path of a user. */
export interface UserPath {
  readonly user: string;
}

/** The path parameter of operations on a user. */
export const USER: Schema = text("the id of the user, or the user name", { min: 1, max: 256 });
/** The role of a user. */
export const ROLE: Schema = oneOf(USER_ROLES, "what the user can allow applications");

/** The members of {@linkcode AdminUser}. */
export const USER_PROPERTIES: Readonly<Record<string, Schema>> = {
  id: text("the id"),
  username: orNull(text("the user name; null for a user who signs in at an identity provider alone")),
  name: text("the full name"),
  email: text("the e-mail address; empty for none"),
  email_verified: flag("whether the user proved that it is theirs"),
  role: orNull({ ...ROLE, description: "null for the default role of the server" }),
  has_password: flag("whether the user can sign in with a password"),
  created: orNull(time("when the user was added; null where it is not known")),
  updated: orNull(time("when name or address were changed")),
  password_changed: orNull(time("when the password was changed")),
  locked: orNull(time("when the account was locked; null for one that is not")),
};

/** The schema of {@linkcode AdminUser}. */
export const USER_OBJECT: Schema = object(USER_PROPERTIES);

/** The user without the hash of the password. */
export function toAdminUser(user: User | Profile): AdminUser {
  const own: Partial<User> = "password" in user ? user : {};
  return {
    id: user.id,
    username: user.username ?? null,
    name: user.name,
    email: user.email,
    email_verified: user.email_verified !== undefined && user.email_verified !== false,
    role: user.role ?? null,
    has_password: own.password !== undefined && own.passwordless !== true,
    created: toIsoOrNull(own.created),
    updated: toIsoOrNull(user.updated),
    password_changed: toIsoOrNull(own.password_changed),
    locked: toIsoOrNull(user.locked),
  };
}

/** The user with this id or user name. @throws {AdminError} 404 */
export async function getUser({ store }: AdminContext, user: string): Promise<User | Profile> {
  const found = await findAccount(store, user);
  if (!found) throw notFound("User", user);
  return found;
}

/**
 * Ensures that an administrator remains when this one loses their access. Commands on a store can always add another.
 * @returns what the commit of the change must check, so that no other request changes the one who remains at the same time
 * @throws {AdminError} 409 for the user who acts, and for the last administrator
 */
export async function checkAdminRemains(
  context: AdminContext,
  user: User | Profile,
  action: "lock" | "remove" | "demote",
): Promise<readonly Check[]> {
  if (context.actor === COMMAND_LINE) return [];
  if (user.id === context.actor) {
    throw new AdminError("conflict_error", `You cannot ${action} yourself: ask another administrator`);
  }
  if (!isActiveAdmin(context, user)) return [];
  const other = await findActor(context) ?? await findAdminBeside(context, user.id);
  if (other) return [{ key: other.key, version: other.version }];
  throw new AdminError(
    "conflict_error",
    `Cannot ${action} the last administrator: give another user the role admin first`,
  );
}

/** Mostly the user who acts is one. */
async function findActor(context: AdminContext): Promise<Entry | undefined> {
  const self = await findAccountEntry(context.store, context.actor);
  return self?.value.id === context.actor && isActiveAdmin(context, self.value) ? self : undefined;
}
