/**
 * `trivet key`: the API keys of a store.
 *
 * @module
 */
import process from "node:process";
import { createApiKey, listApiKeys, removeApiKey } from "../../skills/api_key.ts";
import { DATA_OPTIONS, readPlace, withStore } from "./data.ts";
import { unknownAction } from "./actions.ts";
import { describeOptions, readArguments } from "./options.ts";
import { printLine, printTable, UsageError } from "./output.ts";

const SCOPES = ["skills:read", "skills:write", "admin"] as const;

const COMMON_OPTIONS = { ...DATA_OPTIONS, json: { summary: "print JSON" } } as const;
const ADD_OPTIONS = {
  name: { value: "NAME", summary: "what the key is for", default: "key" },
  workspace: { value: "NAME", summary: "the workspace whose skills it can use", shownDefault: "default" },
  scope: {
    value: "SCOPE",
    isRepeatable: true,
    words: SCOPES,
    summary: `a scope of the key: ${SCOPES.join(", ")}`,
    shownDefault: "skills:read and skills:write",
  },
} as const;

export const help: string = `trivet key: adds, lists and removes API keys

Usage: trivet key add [options]
       trivet key list [options]
       trivet key remove ID [options]

${describeOptions(COMMON_OPTIONS)}

add:
${describeOptions(ADD_OPTIONS)}

Examples:
  trivet key add --name ci --scope skills:read
`;

export async function run(argv: readonly string[]): Promise<void> {
  const { values, operands: [action, id] } = readArguments(argv, { ...COMMON_OPTIONS, ...ADD_OPTIONS }, 2);
  const place = readPlace(values, process.env);
  const { json } = values;
  switch (action) {
    case "add":
      return await withStore(place, async (store) => {
        const { name, workspace, scope: scopes } = values;
        const { key, secret } = await createApiKey(store, { name, workspace, scopes });
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
      if (id === undefined) throw new UsageError("missing argument: ID of the key to remove");
      return await withStore(place, async (store) => {
        if (!await removeApiKey(store, id)) throw new Error(`API key not found: "${id}"`);
        printLine(`Removed ${id}`);
      });
    default:
      throw unknownAction(action, ["add", "list", "remove"]);
  }
}
