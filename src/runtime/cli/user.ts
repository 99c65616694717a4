/**
 * `trivet user`: the people who sign in, of a data folder.
 *
 * @module
 */
import process from "node:process";
import { randomSecret } from "../../crypto/secret.ts";
import { collectBytes } from "../../http/body/byte_buffer.ts";
import { addUser, listUsers, removeUser, setUserRole } from "../../oauth/users/user.ts";
import { USER_ROLES } from "../../oauth/users/user_role.ts";
import { DATA_HELP, DATA_OPTION, readPlace, withStore } from "./data.ts";
import {
  printError,
  printLine,
  printTable,
  readArguments,
  textOption,
  UsageError,
  type Values,
  wordOption,
} from "./output.ts";

export const help: string = `trivet user: adds, lists and removes users

Usage: trivet user add USERNAME [options]
       trivet user role USERNAME ROLE [options]
       trivet user list [options]
       trivet user remove USERNAME [options]

${DATA_HELP}
  --json            print JSON
add (asks for the password, unless one of the first two is given):
  --password-stdin  read the password from standard input
  --generate        make a random password and print it
  --name NAME       full name (default: the user name)
  --email ADDRESS   e-mail address
  --role ROLE       what the user may let applications do: reader (their own data, and read skills), author (also
                    write skills and ask the model), admin (everything) (default: the server's, reader)

A running server sees the change at once; a lower role holds for what the user allowed before, too.

Examples:
  trivet user add alice --name "Alice Liddell" --email alice@example.com --generate
  trivet user role alice author
  printf %s "$PASSWORD" | trivet user add bob --password-stdin
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, username, role] } = readArguments(argv, {
    ...DATA_OPTION,
    json: { type: "boolean" },
    "password-stdin": { type: "boolean" },
    generate: { type: "boolean" },
    name: { type: "string" },
    email: { type: "string" },
    role: { type: "string" },
  }, argv.includes("role") ? 3 : 2);
  const place = readPlace(values, process.env);
  const json = values.json === true;
  if (
    action !== "list" && username === undefined &&
    (action === "add" || action === "remove" || action === "role")
  ) {
    throw new UsageError(`Name the user to ${action}`);
  }
  switch (action) {
    case "add": {
      const password = await readPassword(values);
      return await withStore(place, async (store) => {
        const name = textOption(values, "name");
        const user = await addUser(store, {
          username: username!,
          password,
          name,
          email: textOption(values, "email"),
          role: wordOption(values, "role", USER_ROLES),
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
      if (!chosen) throw new UsageError(`Name the role: ${USER_ROLES.join(", ")}`);
      return await withStore(place, async (store) => {
        if (!await setUserRole(store, username!, chosen)) throw new Error(`There is no user "${username}"`);
        printLine(json ? JSON.stringify({ username, role: chosen }) : `${username} is ${chosen}`);
      });
    }
    case "list":
      return await withStore(place, async (store) => {
        const users = (await Array.fromAsync(listUsers(store))).map(({ password: _, ...user }) => user);
        if (json) return printLine(JSON.stringify(users));
        printTable(
          ["USERNAME", "NAME", "E-MAIL", "ROLE", "ID"],
          users.map(({ username, name, email, role, id }) => [username, name, email || "-", role ?? "-", id]),
        );
      });
    case "remove":
      return await withStore(place, async (store) => {
        if (!await removeUser(store, username!)) throw new Error(`There is no user "${username}"`);
        printLine(`Removed ${username}`);
      });
    default:
      throw new UsageError("Say what to do: add, role, list or remove");
  }
}

async function readPassword(values: Values): Promise<string> {
  if (values.generate) return randomSecret("").slice(0, 20);
  if (values["password-stdin"]) {
    const bytes = await collectBytes(process.stdin);
    try {
      return new TextDecoder("utf-8", { fatal: true, ignoreBOM: true }).decode(bytes).replace(/\r?\n$/, "");
    } catch {
      throw new UsageError("The password must be UTF-8");
    }
  }
  if (!process.stdin.isTTY) {
    throw new UsageError("Give --password-stdin or --generate: there is no terminal to ask on");
  }
  return await askPassword();
}

/** Asks on the terminal without showing what is typed. */
function askPassword(): Promise<string> {
  process.stderr.write("Password: ");
  process.stdin.setRawMode(true);
  return new Promise((resolve, reject) => {
    let text = "";
    // A character may come in two pieces.
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
        if (character === "\u0003") return finish(() => reject(new Error("Nothing was added")));
        if (character === "\u007f") text = [...text].slice(0, -1).join("");
        else text += character;
      }
    };
    process.stdin.on("data", read);
    process.stdin.resume();
  });
}
