/**
 * Operations on how users sign in: lock, password and second factors. Also the data of a user.
 *
 * @module
 */
import { exportUserData as exportData, type UserData } from "../../oauth/account/user_data.ts";
import { removeFactors as removeAllFactors } from "../../oauth/factors/change_factors.ts";
import { lockUserIf, setPassword as set, unlockUser as unlock } from "../../oauth/users/user_changes.ts";
import { endUserSessions } from "../../oauth/users/user_sessions.ts";
import { AdminError, type AdminOperation, notFound } from "../operation.ts";
import { flag, input, object, SECRET, type Secret } from "../schema.ts";
import {
  type AdminUser,
  checkAdminRemains,
  getUser,
  toAdminUser,
  USER,
  USER_OBJECT,
  USER_PROPERTIES,
  type UserPath,
} from "./user_record.ts";
import { makePassword, PASSWORD } from "./users.ts";

/** What `setPassword` sets. */
export interface PasswordRequest {
  /** @default a random one */
  readonly password?: string;
  readonly end_sessions?: boolean;
}

export const lockUser: AdminOperation<UserPath, AdminUser> = {
  name: "lockUser",
  method: "POST",
  path: "/users/:user/lock",
  summary: "Lock an account: login, sessions and tokens are refused until it is unlocked",
  input: input({ user: USER }, ["user"]),
  output: USER_OBJECT,
  subject: (_, { id }) => id,
  async run(context, { user }) {
    const found = await getUser(context, user);
    await lockUserIf(context.store, found.id, (present) => checkAdminRemains(context, present, "lock"));
    return toAdminUser(await getUser(context, found.id));
  },
};

export const unlockUser: AdminOperation<UserPath, AdminUser> = {
  name: "unlockUser",
  method: "POST",
  path: "/users/:user/unlock",
  summary: "Unlock an account: sessions and tokens that have not expired are valid again",
  input: input({ user: USER }, ["user"]),
  output: USER_OBJECT,
  subject: (_, { id }) => id,
  async run(context, { user }) {
    const found = await getUser(context, user);
    await unlock(context.store, found.id);
    return toAdminUser(await getUser(context, found.id));
  },
};

export const setPassword: AdminOperation<UserPath & PasswordRequest, AdminUser & Secret> = {
  name: "setPassword",
  method: "POST",
  path: "/users/:user/password",
  summary: "Set the password of a user",
  input: input({
    user: USER,
    password: PASSWORD,
    end_sessions: flag("also end all sessions of the user; false when left out"),
  }, ["user"]),
  output: object({ ...USER_PROPERTIES, secret: SECRET }),
  isSecret: true,
  subject: (_, { id }) => id,
  async run(context, { user, password, end_sessions }) {
    const { store, passwordIterations: iterations } = context;
    const found = await getUser(context, user);
    if (!("password" in found)) {
      throw new AdminError(
        "conflict_error",
        "This user signs in at an identity provider and has no password here",
      );
    }
    const made = password === undefined ? makePassword() : undefined;
    const problem = await set(store, found.id, password ?? made!, {
      ...iterations !== undefined && { iterations },
    });
    if (problem === "unknown_user") throw notFound("User", user);
    if (problem !== undefined) {
      throw new AdminError("invalid_request_error", "password: must be 1 to 1024 characters");
    }
    if (end_sessions) await endUserSessions(store, found.id);
    return { ...toAdminUser(await getUser(context, found.id)), secret: made ?? null };
  },
};

export const removeFactors: AdminOperation<UserPath, string> = {
  name: "removeFactors",
  method: "DELETE",
  path: "/users/:user/factors",
  summary:
    "Remove passkeys, authenticator app and recovery codes of a user: the password alone is enough again",
  input: input({ user: USER }, ["user"]),
  output: undefined,
  subject: (_, id) => id,
  async run(context, { user }) {
    const { id } = await getUser(context, user);
    if (!await removeAllFactors(context.store, id)) {
      throw new AdminError("not_found_error", "This user has no second factor");
    }
    return id;
  },
};

export const exportUserData: AdminOperation<UserPath, UserData> = {
  name: "exportUserData",
  method: "GET",
  path: "/users/:user/data",
  summary: "Export what is stored about a user, without passwords, keys and secrets",
  input: input({ user: USER }, ["user"]),
  output: {
    type: "object",
    required: [
      "issuer",
      "exported",
      "profile",
      "sessions",
      "applications",
      "linked_providers",
      "connections",
      "allowed_calls",
      "factors",
    ],
    properties: {
      issuer: { type: "string" },
      exported: { type: "string", format: "date-time" },
      profile: { type: "object" },
      sessions: { type: "array", items: { type: "object" } },
      applications: { type: "array", items: { type: "object" } },
      linked_providers: { type: "array", items: { type: "object" } },
      connections: { type: "array", items: { type: "object" } },
      allowed_calls: { type: "array", items: { type: "object" } },
      factors: { type: "object" },
    },
    additionalProperties: false,
  },
  async run(context, { user }) {
    const { store, issuer, configuredClients: configured = new Map() } = context;
    const { id } = await getUser(context, user);
    const data = await exportData(store, id, { issuer, configured });
    if (!data) throw notFound("User", user);
    return data;
  },
};

/** The operations of this file. */
export const USER_ACCESS_OPERATIONS: readonly AdminOperation[] = [
  lockUser,
  unlockUser,
  setPassword,
  removeFactors,
  exportUserData,
];
