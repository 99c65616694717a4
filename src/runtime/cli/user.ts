/**
 * `trivet user`: the people who sign in, of a data folder.
 *
 * @module
 */
import process from "node:process";
import { randomSecret } from "../../crypto/secret.ts";
import { addUser, listUsers, removeUser } from "../../oauth/user.ts";
import { DATA_HELP, DATA_OPTION, readPlace, withStore } from "./data.ts";
import {
  printError,
  printLine,
  printTable,
  readArguments,
  textOption,
  UsageError,
  type Values,
} from "./output.ts";

export const help: string = `trivet user: adds, lists and removes users

Usage: trivet user add USERNAME [options]
       trivet user list [options]
       trivet user remove USERNAME [options]

${DATA_HELP}
  --json            print JSON
add (asks for the password, unless one of the first two is given):
  --password-stdin  read the password from standard input
  --generate        make a random password and print it
  --name NAME       full name (default: the user name)
  --email ADDRESS   e-mail address

Examples:
  trivet user add alice --name "Alice Liddell" --email alice@example.com --generate
  printf %s "$PASSWORD" | trivet user add bob --password-stdin
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, username] } = readArguments(argv, {
    ...DATA_OPTION,
    json: { type: "boolean" },
    "password-stdin": { type: "boolean" },
    generate: { type: "boolean" },
    name: { type: "string" },
    email: { type: "string" },
  }, 2);
  const place = readPlace(values, process.env);
  const json = values.json === true;
  if (action !== "list" && username === undefined && (action === "add" || action === "remove")) {
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
        });
        const { password: _, ...shown } = user;
        const made = values.generate ? { password } : {};
        if (json) return printLine(JSON.stringify({ ...shown, ...made }));
        printLine(`user      ${user.username}   (${user.id})`);
        if (values.generate) printLine(`password  ${password}   (shown once)`);
      });
    }
    case "list":
      return await withStore(place, async (store) => {
        const users = (await Array.fromAsync(listUsers(store))).map(({ password: _, ...user }) => user);
        if (json) return printLine(JSON.stringify(users));
        printTable(
          ["USERNAME", "NAME", "E-MAIL", "ID"],
          users.map(({ username, name, email, id }) => [username, name, email || "-", id]),
        );
      });
    case "remove":
      return await withStore(place, async (store) => {
        if (!await removeUser(store, username!)) throw new Error(`There is no user "${username}"`);
        printLine(`Removed ${username}`);
      });
    default:
      throw new UsageError("Say what to do: add, list or remove");
  }
}

async function readPassword(values: Values): Promise<string> {
  if (values.generate) return randomSecret("").slice(0, 20);
  if (values["password-stdin"]) {
    let text = "";
    for await (const chunk of process.stdin) text += chunk;
    return text.replace(/\r?\n$/, "");
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
    const finish = (settle: () => void) => {
      process.stdin.setRawMode(false);
      process.stdin.pause();
      process.stdin.off("data", read);
      printError("");
      settle();
    };
    const read = (chunk: Uint8Array) => {
      for (const character of new TextDecoder().decode(chunk)) {
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
