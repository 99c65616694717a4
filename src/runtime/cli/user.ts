/**
 * `trivet user`: the users of a store.
 *
 * @module
 */
import process from "node:process";
import { randomSecret } from "../../crypto/secret.ts";
import { collectBytes } from "../../http/body/byte_buffer.ts";
import { listLinkedUsers, removeLinkedUser } from "../../oauth/sign_in/linked_account.ts";
import { addUser, listUsers, removeUser, setUserRole } from "../../oauth/users/user.ts";
import { USER_ROLES } from "../../oauth/users/user_role.ts";
import { DATA_OPTIONS, readPlace, withStore } from "./data.ts";
import { describeOptions, readArguments, type ValuesOf } from "./options.ts";
import { printError, printLine, printTable, unknownAction, UsageError } from "./output.ts";

const COMMON_OPTIONS = { ...DATA_OPTIONS, json: { summary: "print JSON" } } as const;
const PASSWORD_OPTIONS = {
  "password-stdin": { summary: "read the password from standard input" },
  generate: { summary: "make a random password and print it" },
} as const;
const ADD_OPTIONS = {
  ...PASSWORD_OPTIONS,
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

export const help: string = `trivet user: adds, lists and removes users

Usage: trivet user add USERNAME [options]
       trivet user role USERNAME ROLE [options]
       trivet user list [options]
       trivet user remove USERNAME|ID [options]

${describeOptions(COMMON_OPTIONS)}

add (asks for the password, unless one of the first two options is given):
${describeOptions(ADD_OPTIONS)}

Users who sign in at an identity provider have no user name: remove them by id.

A change takes effect at once on a running server. A lower role also limits what the user allowed before.

Examples:
  trivet user add alice --name "Alice Liddell" --email alice@example.com --generate
  trivet user role alice author
  printf %s "$PASSWORD" | trivet user add bob --password-stdin
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, username, role] } = readArguments(
    argv,
    { ...COMMON_OPTIONS, ...ADD_OPTIONS },
    argv.includes("role") ? 3 : 2,
  );
  const place = readPlace(values, process.env);
  const { json } = values;
  if (
    action !== "list" && username === undefined &&
    (action === "add" || action === "remove" || action === "role")
  ) {
    throw new UsageError("missing argument: USERNAME");
  }
  switch (action) {
    case "add": {
      const password = await readPassword(values);
      return await withStore(place, async (store) => {
        const user = await addUser(store, {
          username: username!,
          password,
          name: values.name,
          email: values.email,
          role: values.role,
        });
        const { password: _, ...shown } = user;
        const made = values.generate ? { password } : {};
        if (json) return printLine(JSON.stringify({ ...shown, ...made }));
        printLine(`user      ${user.username}   (${user.id})`);
        if (values.generate) printLine(`password  ${password}   (shown once)`);
      });
    }
    case "role": {
      const chosen = USER_ROLES.find((each) => each === role);
      if (!chosen) {
        throw new UsageError(
          `${role === undefined ? "missing argument: " : ""}ROLE must be one of ${USER_ROLES.join(", ")}`,
        );
      }
      return await withStore(place, async (store) => {
        if (!await setUserRole(store, username!, chosen)) throw new Error(`User not found: "${username}"`);
        printLine(json ? JSON.stringify({ username, role: chosen }) : `${username} has the role ${chosen}`);
      });
    }
    case "list":
      return await withStore(place, async (store) => {
        const users = (await Array.fromAsync(listUsers(store))).map(({ password: _, ...user }) => user);
        const linked = await Array.fromAsync(listLinkedUsers(store));
        if (json) return printLine(JSON.stringify([...users, ...linked]));
        printTable(
          ["USERNAME", "NAME", "E-MAIL", "ROLE", "ID"],
          [...users, ...linked.map((user) => ({ ...user, username: `(${user.provider})` }))]
            .map(({ username, name, email, role, id }) => [username, name, email || "-", role ?? "-", id]),
        );
      });
    case "remove":
      return await withStore(place, async (store) => {
        if (!await removeUser(store, username!) && !await removeLinkedUser(store, username!)) {
          throw new Error(`User not found: "${username}"`);
        }
        printLine(`Removed ${username}`);
      });
    default:
      throw unknownAction(action, ["add", "role", "list", "remove"]);
  }
}

async function readPassword(values: ValuesOf<typeof PASSWORD_OPTIONS>): Promise<string> {
  if (values.generate) return randomSecret("").slice(0, 20);
  if (values["password-stdin"]) {
    const bytes = await collectBytes(process.stdin);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, "");
    } catch {
      throw new UsageError("the password must be UTF-8");
    }
  }
  if (!process.stdin.isTTY) {
    throw new UsageError("standard input is not a terminal: use --password-stdin or --generate");
  }
  return await askPassword();
}

/** Asks for the password on the terminal, without showing what is typed. */
function askPassword(): Promise<string> {
  process.stderr.write("Password: ");
  process.stdin.setRawMode(true);
  return new Promise((resolve, reject) => {
    let text = "";
    // A character may be split over two chunks.
    const decoder = new TextDecoder("utf-8", { ignoreBOM: true });
    const finish = (settle: () => void) => {
      process.stdin.setRawMode(false);
      process.stdin.pause();
      process.stdin.off("data", read);
      printError("");
      settle();
    };
    const read = (chunk: Uint8Array) => {
      for (const character of decoder.decode(chunk, { stream: true })) {
        if (character === "\r" || character === "\n") return finish(() => resolve(text));
        if (character === "\u0003") return finish(() => reject(new Error("interrupted, nothing was added")));
        if (character === "\u007f") text = [...text].slice(0, -1).join("");
        else text += character;
      }
    };
    process.stdin.on("data", read);
    process.stdin.resume();
  });
}
