/**
 * `trivet key`: API keys of a data folder.
 *
 * @module
 */
import process from "node:process";
import { createApiKey, listApiKeys, removeApiKey } from "../../skills/api_key.ts";
import { DATA_HELP, DATA_OPTION, readPlace, withStore } from "./data.ts";
import { listOption, printLine, printTable, readArguments, textOption, UsageError } from "./output.ts";

export const help: string = `trivet key: adds, lists and removes API keys

Usage: trivet key add [options]
       trivet key list [options]
       trivet key remove ID [options]

${DATA_HELP}
  --json           print JSON
add:
  --name NAME      what it is for (default: key)
  --workspace NAME whose skills it reaches (default: default)
  --scope SCOPE    skills:read, skills:write or admin; may come several times (default: the first two)

Examples:
  trivet key add --name ci --scope skills:read
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, id] } = readArguments(argv, {
    ...DATA_OPTION,
    json: { type: "boolean" },
    name: { type: "string" },
    workspace: { type: "string" },
    scope: { type: "string", multiple: true },
  }, 2);
  const place = readPlace(values, process.env);
  const json = values.json === true;
  switch (action) {
    case "add":
      return await withStore(place, async (store) => {
        const scopes = listOption(values, "scope");
        const wrong = scopes?.find((scope) => !/^(skills:read|skills:write|admin)$/.test(scope));
        if (wrong !== undefined) {
          throw new UsageError(`--scope must be skills:read, skills:write or admin, but is "${wrong}"`);
        }
        const workspace = textOption(values, "workspace");
        const { key, secret } = await createApiKey(store, {
          name: textOption(values, "name") ?? "key",
          workspace,
          scopes,
        });
        if (json) return printLine(JSON.stringify({ ...key, secret }));
        printLine(`key     ${key.id}   (${key.name}: ${key.scopes.join(" ")})`);
        printLine(`secret  ${secret}   (shown once)`);
      });
    case "list":
      return await withStore(place, async (store) => {
        const keys = await Array.fromAsync(listApiKeys(store));
        if (json) return printLine(JSON.stringify(keys));
        printTable(
          ["ID", "NAME", "WORKSPACE", "SCOPES"],
          keys.map((key) => [key.id, key.name, key.workspace, key.scopes.join(" ")]),
        );
      });
    case "remove":
      if (id === undefined) throw new UsageError("Name the id of the key to remove");
      return await withStore(place, async (store) => {
        if (!await removeApiKey(store, id)) throw new Error(`There is no key "${id}"`);
        printLine(`Removed ${id}`);
      });
    default:
      throw new UsageError("Say what to do: add, list or remove");
  }
}
