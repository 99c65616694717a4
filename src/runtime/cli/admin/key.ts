/**
 * `trivet key`: API keys.
 *
 * @module
 */
import type { AdminKey } from "../../../admin/operations/keys.ts";
import { addKey, listKeys, removeKey, showKey, updateKey } from "../../../admin/operations/keys.ts";
import { SCOPES } from "../../../options/oauth_options.ts";
import { formatTime, printPairs, printText, UsageError } from "../output.ts";
import { type AdminAction, adminAction, type AdminCommand, adminCommand } from "./admin_action.ts";
import { byIdOrName, removeAction } from "./by_name.ts";
import { listAction } from "./list_action.ts";

const API_KEY_SCOPES = Object.keys(SCOPES);
const SCOPE_OPTION = {
  scope: {
    value: "SCOPE",
    isRepeatable: true,
    words: API_KEY_SCOPES,
    summary: `a scope of the key: ${API_KEY_SCOPES.join(", ")}`,
    shownDefault: "skills:read and skills:write",
  },
} as const;

const add: AdminAction = adminAction({
  operands: "",
  summary: "makes an API key, and prints its secret once",
  options: {
    name: { value: "NAME", summary: "what the key is for", default: "key" },
    workspace: { value: "NAME", summary: "the workspace whose skills it can use", shownDefault: "default" },
    ...SCOPE_OPTION,
  },
  run: ({ call, values: { name, workspace, scope: scopes } }) => call(addKey, { name, workspace, scopes }),
  print({ id, name, scopes, secret }) {
    printText(`key     ${id}   (${name}: ${scopes.join(" ")})`);
    printText(`secret  ${secret}   (shown once)`);
  },
});

const list: AdminAction = listAction({
  operation: listKeys,
  summary: "lists the API keys",
  columns: {
    ID: ({ id }) => id,
    NAME: ({ name }) => name,
    WORKSPACE: ({ workspace }) => workspace,
    SCOPES: ({ scopes }) => scopes.join(" "),
    MADE: ({ created }) => formatTime(created),
  },
});

const show: AdminAction = adminAction({
  operands: "ID|NAME",
  summary: "shows an API key, without its secret",
  options: {},
  run: ({ call, operands: [key] }) => byIdOrName(call, listKeys, key!, (id) => call(showKey, { key: id })),
  print: printKey,
});

const update: AdminAction = adminAction({
  operands: "ID|NAME",
  summary: "changes the name or the scopes",
  options: {
    name: { value: "NAME", summary: "what the key is for" },
    scope: { ...SCOPE_OPTION.scope, shownDefault: "as they are" },
  },
  run({ call, values: { name, scope: scopes }, operands: [key] }) {
    if (name === undefined && scopes === undefined) throw new UsageError("missing option: --name or --scope");
    return byIdOrName(call, listKeys, key!, (id) => call(updateKey, { key: id, name, scopes }));
  },
  print: printKey,
});

const remove: AdminAction = removeAction({
  operand: "ID|NAME",
  summary: "removes an API key: it ends at once",
  list: listKeys,
  remove: (call, key) => call(removeKey, { key }),
});

export const command: AdminCommand = adminCommand({
  name: "key",
  title: "API keys",
  actions: { add, list, show, update, remove },
  notes:
    `A key with the scope admin administrates a server: TRIVET_API_KEY=… trivet user list --url URL. A NAME stands
for the only key of that name.`,
  examples: [
    "trivet key add --name ci --scope skills:read",
    "trivet key add --name operator --scope admin",
    "trivet key remove ci",
  ],
});

function printKey({ id, name, workspace, scopes, created }: AdminKey): void {
  printPairs([
    ["key", id],
    ["name", name],
    ["workspace", workspace],
    ["scopes", scopes.join(" ")],
    ["made", formatTime(created)],
  ]);
}
