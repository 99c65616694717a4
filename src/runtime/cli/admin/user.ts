/**
 * `trivet user`: the users, their passwords and second factors.
 *
 * @module
 */
import { addUser, listUsers, removeUser, showUser, updateUser } from "../../../admin/operations/users.ts";
import {
  exportUserData,
  lockUser,
  removeFactors,
  setPassword,
  unlockUser,
} from "../../../admin/operations/user_access.ts";
import type { AdminUser } from "../../../admin/operations/user_record.ts";
import type { Secret } from "../../../admin/schema.ts";
import { checkNewPassword, completePasswordPolicy } from "../../../oauth/users/password_policy.ts";
import { USER_ROLES } from "../../../oauth/users/user_role.ts";
import type { ValuesOf } from "../options.ts";
import { formatTime, printError, printJson, printPairs, printText, UsageError } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import { removeAction } from "./by_name.ts";
import { listAction } from "./list_action.ts";
import { askForSecret, readSecretFromStdin } from "./secret_input.ts";
import { ISSUER_OPTION } from "../issuer_option.ts";

const PASSWORD_OPTIONS = {
  "password-stdin": { summary: "read the password from standard input" },
  generate: { summary: "make a random password and print it" },
} as const;
const PROFILE_OPTIONS = {
  name: { value: "NAME", summary: "full name", shownDefault: "the user name" },
  email: { value: "ADDRESS", summary: "e-mail address", canBeEmpty: true },
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

const add: AdminAction = adminAction({
  operands: "USERNAME",
  summary: "adds a user; asks for the password",
  options: { ...PASSWORD_OPTIONS, ...PROFILE_OPTIONS },
  async run({ call, values, operands: [username] }) {
    const password = await readPassword(values);
    const { name, email, role } = values;
    const user = await call(addUser, { username: username!, password, name, email, role });
    await warnOfPassword(password, user);
    return user;
  },
  print: printNewPassword,
});

const list: AdminAction = listAction({
  operation: listUsers,
  summary: "lists the users",
  columns: {
    USERNAME: ({ username }) => username,
    NAME: ({ name }) => name,
    "E-MAIL": ({ email }) => email,
    ROLE: ({ role }) => role,
    STATE: ({ locked }) => locked && "locked",
    ID: ({ id }) => id,
  },
});

const show: AdminAction = adminAction({
  operands: "USER",
  summary: "shows a user, and where they sign in",
  options: {},
  run: ({ call, operands: [user] }) => call(showUser, { user: user! }),
  print: (user) =>
    printPairs([
      ["user", user.username],
      ["id", user.id],
      ["name", user.name],
      ["e-mail", user.email && `${user.email}${user.email_verified ? "   (verified)" : ""}`],
      ["role", user.role],
      ["added", user.created && formatTime(user.created)],
      ["password", user.password_changed && `changed ${formatTime(user.password_changed)}`],
      ["locked", user.locked && `since ${formatTime(user.locked)}`],
      ...user.identities.map(({ provider, label, subject }) =>
        ["signs in at", `${provider}   (${label || subject})`] as const
      ),
      ["sessions", String(user.sessions)],
      ["grants", String(user.grants)],
    ]),
});

const update: AdminAction = adminAction({
  operands: "USER",
  summary: "changes name, e-mail address or role",
  options: PROFILE_OPTIONS,
  run({ call, values: { name, email, role }, operands: [user] }) {
    if ([name, email, role].every((each) => each === undefined)) {
      throw new UsageError("missing option: --name, --email or --role");
    }
    return call(updateUser, { user: user!, name, email, role });
  },
  print: (_, { operands: [user] }) => printText(`Changed ${user}`),
});

const password: AdminAction = adminAction({
  operands: "USER",
  summary: "sets the password; asks for it",
  options: { ...PASSWORD_OPTIONS, "sign-out": { summary: "also end all sessions of the user" } },
  async run({ call, values, operands: [user] }) {
    // First: a password that is asked for must have a use.
    const { has_password } = await call(showUser, { user: user! });
    if (!has_password) {
      throw new Error(`"${user}" has no password here: this user signs in at an identity provider`);
    }
    const text = await readPassword(values);
    const input = { user: user!, password: text, end_sessions: values["sign-out"] };
    const changed = await call(setPassword, input);
    await warnOfPassword(text, changed);
    return changed;
  },
  print: printNewPassword,
});

const lock: AdminAction = adminAction({
  operands: "USER",
  summary: "refuses login, sessions and tokens until unlock",
  options: {},
  run: ({ call, operands: [user] }) => call(lockUser, { user: user! }),
  print: (_, { operands: [user] }) => printText(`${user} is locked`),
});

const unlock: AdminAction = adminAction({
  operands: "USER",
  summary: "ends a lock; what has not expired is valid again",
  options: {},
  run: ({ call, operands: [user] }) => call(unlockUser, { user: user! }),
  print: (_, { operands: [user] }) => printText(`${user} is unlocked`),
});

const resetFactors: AdminAction = adminAction({
  operands: "USER",
  summary: "removes passkeys, authenticator app and recovery codes: the password alone is enough again",
  options: {},
  run: ({ call, operands: [user] }) => call(removeFactors, { user: user! }),
  print: (_, { operands: [user] }) => printText(`Removed the factors of ${user}`),
});

const data: AdminAction = adminAction({
  operands: "USER",
  summary: "prints what is stored about a user, as JSON",
  options: { issuer: ISSUER_OPTION },
  issuerOption: "issuer",
  run: ({ call, operands: [user] }) => call(exportUserData, { user: user! }),
  print: (stored) => printJson(stored, 2),
});

const remove: AdminAction = removeAction({
  operand: "USER",
  summary: "removes a user with all that is stored about them",
  remove: (call, user) => call(removeUser, { user }),
});

export const command: AdminCommand = adminCommand({
  name: "user",
  title: "users, their passwords and second factors",
  actions: { add, list, show, update, password, lock, unlock, "reset-factors": resetFactors, data, remove },
  notes: `USER is a user name or an id. Users who sign in at an identity provider have no user name.

A change takes effect at once on a running server. A lower role also limits what the user allowed before. A new
password ends no session: use --sign-out where the old one may be known to others. See also: trivet session,
trivet grant, trivet invitation.`,
  examples: [
    'trivet user add alice --name "Alice Liddell" --email alice@example.com --generate',
    "trivet user update alice --role author",
    'printf %s "$PASSWORD" | trivet user password alice --password-stdin --sign-out',
    "trivet user lock alice --url https://agents.example.com",
  ],
});

/** `undefined` for a password that the operation makes. */
async function readPassword(values: ValuesOf<typeof PASSWORD_OPTIONS>): Promise<string | undefined> {
  const { generate, "password-stdin": fromStdin } = values;
  if (generate && fromStdin) throw new UsageError("--generate and --password-stdin exclude each other");
  if (generate) return undefined;
  if (fromStdin) return await readSecretFromStdin("password");
  return await askForSecret("password", "--password-stdin or --generate");
}

/** People who choose a password on a page must keep these rules; an operator need not. */
async function warnOfPassword(
  text: string | undefined,
  { username, email }: AdminUser,
): Promise<void> {
  if (text === undefined) return;
  const problem = await checkNewPassword(POLICY, text, { username: username ?? "", email });
  if (problem === "too_short") {
    printError(`trivet: warning: the password has fewer than ${POLICY.minLength} characters`);
  } else if (problem === "same_as_name") {
    printError("trivet: warning: the password is the name of the user");
  }
}

function printNewPassword({ id, username, secret }: AdminUser & Secret): void {
  printText(`user      ${username}   (${id})`);
  if (secret !== null) printText(`password  ${secret}   (shown once)`);
}
