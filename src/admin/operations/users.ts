/**
 * Operations on users.
 *
 * @module
 */
import { type Profile, type User, userKey, type UserRole } from "../../oauth/records/user_record.ts";
import { type UserFactors, userFactorsKey } from "../../oauth/factors/factor_record.ts";
import { readProviderTokens, revokeProviderTokens } from "../../oauth/sign_in/provider_tokens.ts";
import { listUserIdentities } from "../../oauth/sign_in/user_identity.ts";
import { isEmailAddress } from "../../oauth/users/email_address.ts";
import { removeUserIf } from "../../oauth/users/remove_user.ts";
import { addUser as add, findUserId } from "../../oauth/users/user.ts";
import { randomSecret } from "../../crypto/secret.ts";
import { findAccount, updateUserIf } from "../../oauth/users/user_changes.ts";
import { listUserGrants } from "../../oauth/users/user_grants.ts";
import { listUserSessions } from "../../oauth/users/user_sessions.ts";
import { canonicalUsername } from "../../oauth/users/username.ts";
import { type Entry, waitForRemoval } from "../../store/store.ts";
import {
  createSearch,
  listPage,
  type Page,
  pageInput,
  pageOf,
  type PageQuery,
  type Source,
} from "../list_page.ts";
import {
  AdminError,
  type AdminOperation,
  notFound,
  refuseInvalid,
  type Schema,
  toIso,
} from "../operation.ts";
import { count, flag, input, object, oneOf, SECRET, type Secret, text, time } from "../schema.ts";
import {
  type AdminUser,
  checkAdminRemains,
  getUser,
  ROLE,
  toAdminUser,
  USER,
  USER_OBJECT,
  USER_PROPERTIES,
  type UserPath,
} from "./user_record.ts";

/** A user with what belongs to them. */
export interface AdminUserDetails extends AdminUser {
  readonly identities: readonly {
    readonly provider: string;
    readonly issuer: string;
    readonly subject: string;
    readonly label: string;
    readonly linked: string;
  }[];
  readonly factors: {
    readonly totp: boolean;
    readonly passkeys: number;
    readonly recovery_codes: number;
  };
  readonly sessions: number;
  readonly grants: number;
}

const PROFILE: Readonly<Record<string, Schema>> = {
  name: text("the full name", { min: 1, max: 256 }),
  email: text("the e-mail address; empty for none", { max: 256 }),
  role: ROLE,
};
/** What an operator accepts: any password, since they also set temporary ones. */
export const PASSWORD: Schema = text("the password; a random one when left out", { min: 1, max: 1024 });

const IDENTITY = object({
  provider: text("the id of the provider at the last sign-in"),
  issuer: text("the issuer", { max: 2048 }),
  subject: text("the id of the user there", { max: 2048 }),
  label: text("how the user knows the account there", { max: 2048 }),
  linked: time("when it was linked"),
});

/** What `addUser` needs. */
export interface UserRequest extends ProfileChanges {
  readonly username: string;
  readonly password?: string;
}

/** What `updateUser` changes; what is left out stays. */
export interface ProfileChanges {
  readonly name?: string;
  readonly email?: string;
  readonly role?: UserRole;
}

export const listUsers: AdminOperation<PageQuery & { readonly role?: UserRole }, Page<AdminUser>> = {
  name: "listUsers",
  method: "GET",
  path: "/users",
  summary: "List users",
  input: pageInput({ role: oneOf(["reader", "author", "admin"], "only users with this role of their own") }),
  output: pageOf(USER_OBJECT),
  async run({ store }, { role, ...query }) {
    const wanted = query.search?.trim() ?? "";
    const begins = wanted === "" ? undefined : canonicalUsername(wanted);
    const sources: Source<never, AdminUser>[] = [
      // First those whose user name begins with the text: the index finds them however many users there are.
      ...begins === undefined ? [] : [{
        prefix: ["username"],
        begins,
        async read({ value }: Entry<string>) {
          const user = await store.get<User>(userKey(value));
          return user && toAdminUser(user.value);
        },
      }],
      {
        prefix: ["user"],
        read({ value }: Entry<User>) {
          const isListed = begins !== undefined && canonicalUsername(value.username).startsWith(begins);
          return isListed ? undefined : toAdminUser(value);
        },
      },
      { prefix: ["profile"], read: ({ value }: Entry<Profile>) => toAdminUser(value) },
    ];
    const matches = createSearch<AdminUser>(
      wanted,
      ({ id, username, name, email }) => [id, username, name, email],
    );
    const isFound = role === undefined
      ? matches
      : (user: AdminUser) => user.role === role && (!matches || matches(user));
    return await listPage(store, sources, query, isFound);
  },
};

export const addUser: AdminOperation<UserRequest, AdminUser & Secret> = {
  name: "addUser",
  method: "POST",
  path: "/users",
  summary: "Add a user",
  input: input({
    username: text("the user name", { min: 1, max: 256 }),
    password: PASSWORD,
    ...PROFILE,
  }, ["username"]),
  output: object({ ...USER_PROPERTIES, secret: SECRET }),
  isSecret: true,
  subject: (_, { id }) => id,
  async run({ store, passwordIterations }, { password, ...profile }) {
    if (await findUserId(store, profile.username) !== undefined) throw taken(profile.username);
    checkEmail(profile);
    const made = password === undefined ? makePassword() : undefined;
    const user = await refuseInvalid(() =>
      add(store, { ...profile, password: password ?? made! }, passwordIterations)
    )
      .catch(async (error) => {
        // Another request may have added it meanwhile.
        throw await findUserId(store, profile.username) === undefined ? error : taken(profile.username);
      });
    return { ...toAdminUser(user), secret: made ?? null };
  },
};

/** @throws {AdminError} 400 for an address to which no mail can be sent */
function checkEmail({ email }: ProfileChanges): void {
  if (email === undefined || email === "" || isEmailAddress(email)) return;
  throw new AdminError("invalid_request_error", `email: ${JSON.stringify(email)} is not an e-mail address`);
}

export const showUser: AdminOperation<UserPath, AdminUserDetails> = {
  name: "showUser",
  method: "GET",
  path: "/users/:user",
  summary: "Show a user with their identities, factors, and numbers of sessions and grants",
  input: input({ user: USER }, ["user"]),
  output: object({
    ...USER_PROPERTIES,
    identities: { type: "array", items: IDENTITY },
    factors: object({
      totp: flag("whether there is an authenticator app"),
      passkeys: count("passkeys"),
      recovery_codes: count("recovery codes that are left"),
    }),
    sessions: count("sessions, up to 1000"),
    grants: count("grants, up to 1000"),
  }),
  async run(context, { user }) {
    const { store } = context;
    const found = await getUser(context, user);
    const { totp, passkeys = [], recovery } =
      (await store.get<UserFactors>(userFactorsKey(found.id)))?.value ?? {};
    return {
      ...toAdminUser(found),
      identities: (await listUserIdentities(store, found.id)).map((each) => ({
        provider: each.provider,
        issuer: each.issuer,
        subject: each.subject,
        label: each.label,
        linked: toIso(each.linked),
      })),
      factors: {
        totp: totp !== undefined,
        passkeys: passkeys.length,
        recovery_codes: recovery?.digests.length ?? 0,
      },
      sessions: (await listUserSessions(store, found.id)).length,
      grants: (await listUserGrants(store, found.id)).length,
    };
  },
};

export const updateUser: AdminOperation<UserPath & ProfileChanges, AdminUser> = {
  name: "updateUser",
  method: "PATCH",
  path: "/users/:user",
  summary: "Change the name, e-mail address or role of a user",
  input: input({ user: USER, ...PROFILE }, ["user"]),
  output: USER_OBJECT,
  subject: (_, { id }) => id,
  async run(context, { user, ...changes }) {
    const found = await getUser(context, user);
    checkEmail(changes);
    const isLower = changes.role !== undefined && changes.role !== "admin";
    await refuseInvalid(() =>
      updateUserIf(context.store, found.id, changes, async (present) => {
        const isDemotion = isLower && (present.role ?? context.defaultRole) === "admin";
        return isDemotion ? await checkAdminRemains(context, present, "demote") : [];
      })
    );
    return toAdminUser(await getUser(context, found.id));
  },
};

export const removeUser: AdminOperation<UserPath, string> = {
  name: "removeUser",
  method: "DELETE",
  path: "/users/:user",
  summary: "Remove a user with all that is stored about them",
  input: input({ user: USER }, ["user"]),
  output: undefined,
  subject: (_, id) => id,
  async run(context, { user }) {
    const { store, providers } = context;
    const found = await findAccount(store, user);
    if (!found) {
      await waitForRemoval(store, userKey(user));
      throw notFound("User", user);
    }
    const kept = await readProviderTokens(providers, found.id);
    const isRemoved = await removeUserIf(
      store,
      found.id,
      (present) => checkAdminRemains(context, present, "remove"),
    );
    if (!isRemoved) throw notFound("User", user);
    await revokeProviderTokens(providers, found.id, kept);
    return found.id;
  },
};

/** The operations of this file. */
export const USER_OPERATIONS: readonly AdminOperation[] = [
  listUsers,
  addUser,
  showUser,
  updateUser,
  removeUser,
];

/** A random password that people can type. */
export function makePassword(): string {
  return randomSecret("").slice(0, 20);
}

function taken(username: string): AdminError {
  return new AdminError("conflict_error", `username: ${JSON.stringify(username)} is taken`);
}
