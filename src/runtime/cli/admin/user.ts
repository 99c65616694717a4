/**
 * `trivet user`: the users of a store.
 *
 * @module
 */
import { randomSecret } from "../../../crypto/secret.ts";
import { listLinkedUsers } from "../../../oauth/sign_in/linked_account.ts";
import { readProviderTokens, revokeProviderTokens } from "../../../oauth/sign_in/provider_tokens.ts";
import { listUserIdentities } from "../../../oauth/sign_in/user_identity.ts";
import type { Profile, User } from "../../../oauth/records.ts";
import { checkNewPassword, completePasswordPolicy } from "../../../oauth/users/password_policy.ts";
import { removeUser } from "../../../oauth/users/remove_user.ts";
import { addUser, listUsers, setUserRole } from "../../../oauth/users/user.ts";
import {
  findAccount,
  lockUser,
  setPassword,
  unlockUser,
  updateUser,
} from "../../../oauth/users/user_changes.ts";
import { listUserGrants } from "../../../oauth/users/user_grants.ts";
import { USER_ROLES } from "../../../oauth/users/user_role.ts";
import { endUserSessions, listUserSessions } from "../../../oauth/users/user_sessions.ts";
import type { Store } from "../../../store/store.ts";
import type { ValuesOf } from "../options.ts";
import { formatTime, printError, printLine, printPairs, printTable, UsageError } from "../output.ts";
import { providerAccess } from "./provider_access.ts";
import { askForSecret, readSecretFromStdin } from "./secret_input.ts";
import { describeActions, runAction, type StoreAction, storeAction } from "./store_action.ts";
import { invitations, invite, uninvite } from "./user_invitations.ts";
import { grants, resetFactors, revoke, sessions, signOut } from "./user_access.ts";

const PASSWORD_OPTIONS = {
  "password-stdin": { summary: "read the password from standard input" },
  generate: { summary: "make a random password and print it" },
} as const;
const PROFILE_OPTIONS = {
  name: { value: "NAME", summary: "full name", shownDefault: "the user name" },
  email: { value: "ADDRESS", summary: "e-mail address" },
  role: {
    value: "ROLE",
    words: USER_ROLES,
    summary: `what the user can allow applications: reader (their own data, and read skills), author (also
      write skills and call the model) or admin (everything)`,
    shownDefault: "the server's, reader",
  },
} as const;
/** For the warning about short passwords. */
const POLICY = completePasswordPolicy();

const add: StoreAction = storeAction({
  operands: "USERNAME",
  summary: "adds a user; asks for the password",
  options: { ...PASSWORD_OPTIONS, ...PROFILE_OPTIONS },
  async run({ store, values, operands: [username], json }) {
    const password = await readPassword(values);
    const { name, email, role } = values;
    const user = await addUser(store, { username: username!, password, name, email, role });
    await warnOfPassword(password, user);
    printNewPassword(user, values.generate ? password : undefined, json);
  },
});

const list: StoreAction = storeAction({
  operands: "",
  summary: "lists all users",
  options: {},
  async run({ store, json }) {
    const users = (await Array.fromAsync(listUsers(store))).map(withoutPassword);
    const known = new Set(users.map(({ id }) => id));
    const linked = (await Array.fromAsync(listLinkedUsers(store))).filter(({ id }) => !known.has(id));
    if (json) return printLine(JSON.stringify([...users, ...linked]));
    printTable(
      ["USERNAME", "NAME", "E-MAIL", "ROLE", "STATE", "ID"],
      [...users, ...linked.map((user) => ({ ...user, username: `(${user.provider})` }))].map((
        { username, name, email, role, locked, id },
      ) => [username ?? "-", name, email || "-", role ?? "-", locked === undefined ? "-" : "locked", id]),
    );
  },
});

const show: StoreAction = storeAction({
  operands: "USER",
  summary: "shows one user",
  options: {},
  async run({ store, operands: [user], json }) {
    const account = await getAccount(store, user!);
    const { id } = account;
    const identities = await listUserIdentities(store, id);
    const counts = {
      sessions: (await listUserSessions(store, id)).length,
      grants: (await listUserGrants(store, id)).length,
    };
    const shown: Partial<User> = withoutPassword(account) as Partial<User>;
    if (json) return printLine(JSON.stringify({ ...shown, identities, ...counts }));
    const { username, name, email, email_verified, role, created, password_changed, locked } = shown;
    printPairs([
      ["user", username],
      ["id", id],
      ["name", name],
      ["e-mail", email && `${email}${email_verified ? "   (verified)" : ""}`],
      ["role", role],
      ["added", created === undefined ? undefined : formatTime(created)],
      ["password", password_changed === undefined ? undefined : `changed ${formatTime(password_changed)}`],
      ["locked", locked === undefined ? undefined : `since ${formatTime(locked)}`],
      ...identities.map(({ provider, label, subject }) =>
        ["signs in at", `${provider}   (${label || subject})`] as const
      ),
      ["sessions", String(counts.sessions)],
      ["grants", String(counts.grants)],
    ]);
  },
});

const update: StoreAction = storeAction({
  operands: "USER",
  summary: "changes name, e-mail address or role",
  options: PROFILE_OPTIONS,
  help: { options: {}, note: "--name, --email and --role, as for add" },
  async run({ store, values: { name, email, role }, operands: [user], json }) {
    if ([name, email, role].every((each) => each === undefined)) {
      throw new UsageError("missing option: --name, --email or --role");
    }
    await getAccount(store, user!);
    await updateUser(store, user!, { name, email, role });
    const account = await getAccount(store, user!);
    printLine(json ? JSON.stringify(withoutPassword(account)) : `Changed ${user}`);
  },
});

const role: StoreAction = storeAction({
  operands: "USER ROLE",
  summary: "as update --role",
  options: {},
  async run({ store, operands: [user, name], json }) {
    const chosen = USER_ROLES.find((each) => each === name);
    if (!chosen) throw new UsageError(`ROLE must be one of ${USER_ROLES.join(", ")}`);
    if (!await setUserRole(store, user!, chosen) && !await updateUser(store, user!, { role: chosen })) {
      throw notFound(user!);
    }
    printLine(json ? JSON.stringify({ username: user, role: chosen }) : `${user} has the role ${chosen}`);
  },
});

const password: StoreAction = storeAction({
  operands: "USER",
  summary: "sets the password; asks for it",
  options: { ...PASSWORD_OPTIONS, "sign-out": { summary: "also end all sessions of the user" } },
  async run({ store, values, operands: [user], json }) {
    const account = await getAccount(store, user!);
    if (!("password" in account)) {
      throw new Error(`"${user}" has no password here: this user signs in at an identity provider`);
    }
    const text = await readPassword(values);
    const problem = await setPassword(store, account.id, text);
    if (problem === "unknown_user") throw notFound(user!);
    if (problem !== undefined) throw new Error("The password must be 1 to 1024 characters");
    await warnOfPassword(text, account);
    if (values["sign-out"]) await endUserSessions(store, account.id);
    printNewPassword(account, values.generate ? text : undefined, json);
  },
});

const lock: StoreAction = storeAction({
  operands: "USER",
  summary: "refuses login, sessions and tokens until unlock",
  options: {},
  run: ({ store, operands: [user], json }) => change(lockUser(store, user!), user!, "locked", json),
});

const unlock: StoreAction = storeAction({
  operands: "USER",
  summary: "ends a lock; what has not expired is valid again",
  options: {},
  run: ({ store, operands: [user], json }) => change(unlockUser(store, user!), user!, "unlocked", json),
});

const remove: StoreAction = storeAction({
  operands: "USER",
  summary: "removes a user with all that is stored about them",
  options: {},
  async run({ store, operands: [user], json }) {
    const account = await getAccount(store, user!);
    const access = providerAccess(store);
    const kept = await readProviderTokens(access, account.id);
    if (!await removeUser(store, account.id)) throw notFound(user!);
    await revokeProviderTokens(access, account.id, kept);
    printLine(json ? JSON.stringify({ id: account.id, removed: true }) : `Removed ${user}`);
  },
});

const ACTIONS = {
  add,
  list,
  show,
  update,
  role,
  password,
  lock,
  unlock,
  sessions,
  "sign-out": signOut,
  "reset-factors": resetFactors,
  grants,
  revoke,
  invite,
  invitations,
  uninvite,
  remove,
};

export const help: string = `trivet user: users, their sessions, and what they allowed applications

${describeActions("user", ACTIONS)}

USER is a user name or an id. Users who sign in at an identity provider have no user name.

An invitation is a one-time link. The server must take it: trivet serve does, unless --sign-up says closed. With
--email it is only for that address: one with a password has no other, and a provider must have verified it.

A change takes effect at once on a running server. A lower role also limits what the user allowed before. A new
password ends no session: use --sign-out where the old one may be known to others.

Examples:
  trivet user add alice --name "Alice Liddell" --email alice@example.com --generate
  trivet user update alice --role author
  printf %s "$PASSWORD" | trivet user password alice --password-stdin --sign-out
  trivet user lock alice
  trivet user sessions alice
  trivet user revoke alice --client some-app
  trivet user invite --email bob@example.com --role author --issuer https://agents.example.com
`;

export function run(argv: readonly string[]): Promise<void> {
  return runAction("user", ACTIONS, argv);
}

async function readPassword(values: ValuesOf<typeof PASSWORD_OPTIONS>): Promise<string> {
  if (values.generate) return randomSecret("").slice(0, 20);
  if (values["password-stdin"]) return await readSecretFromStdin("password");
  return await askForSecret("password", "--password-stdin or --generate");
}

/** People who choose a password on a page must keep these rules; an operator need not. */
async function warnOfPassword(text: string, { username, email }: User): Promise<void> {
  const problem = await checkNewPassword(POLICY, text, { username, email });
  if (problem === "too_short") {
    printError(`trivet: warning: the password has fewer than ${POLICY.minLength} characters`);
  } else if (problem === "same_as_name") {
    printError("trivet: warning: the password is the name of the user");
  }
}

/** @param made the password that was generated */
function printNewPassword(user: User, made: string | undefined, json: boolean): void {
  if (json) {
    return printLine(
      JSON.stringify({ ...withoutPassword(user), ...(made !== undefined && { password: made }) }),
    );
  }
  printLine(`user      ${user.username}   (${user.id})`);
  if (made !== undefined) printLine(`password  ${made}   (shown once)`);
}

async function change(done: Promise<boolean>, user: string, state: string, json: boolean): Promise<void> {
  if (!await done) throw notFound(user);
  printLine(json ? JSON.stringify({ user, state }) : `${user} is ${state}`);
}

/** @throws {Error} when there is none */
export async function getAccount(store: Store, user: string): Promise<User | Profile> {
  const account = await findAccount(store, user);
  if (!account) throw notFound(user);
  return account;
}

function notFound(user: string): Error {
  return new Error(`User not found: "${user}"`);
}

function withoutPassword(account: User | Profile): Omit<User, "password"> | Profile {
  const { password: _, ...shown } = account as User;
  return shown;
}
