/**
 * `trivet mcp`: MCP servers behind the gateway, in a file, in a store or on a running server; and a client on the command
 * line that tests, inspects and calls any MCP server.
 *
 * @module
 */
import { type ActionCommand, describeAction, describeCommand, readAction } from "../actions.ts";
import { interruptible } from "../interrupt.ts";
import { UsageError } from "../output.ts";
import { call } from "./mcp_call.ts";
import { COMMON_OPTIONS, type McpAction } from "./mcp_action.ts";
import { add } from "./mcp_add.ts";
import { inspect } from "./mcp_inspect.ts";
import { list, remove, show } from "./mcp_list.ts";
import { test } from "./mcp_test_connection.ts";

const COMMAND: ActionCommand<McpAction> = {
  name: "mcp",
  title: "MCP servers behind the gateway, and a client that calls any MCP server",
  actions: { add, list, show, remove, test, inspect, call },
  common: COMMON_OPTIONS,
  notes: `"add", "list", "show" and "remove" change the store, a running server (--url) or a file (--file).

"test", "inspect" and "call" need no Trivet server. SERVER is a URL or a name in FILE, which is by default the one that
TRIVET_MCP_SERVERS names, or else mcp.json, .mcp.json or .vscode/mcp.json. A command after -- stands in place of it.
Values in the file, and of --header and --env, can contain environment variables as \${NAME}.`,
  examples: [
    "trivet mcp add tickets https://tickets.example.com/mcp --auth oauth",
    "trivet mcp add files --file mcp.json -- npx -y @modelcontextprotocol/server-filesystem /srv/files",
    "trivet mcp test https://tickets.example.com/mcp",
    "trivet mcp inspect files",
    "trivet mcp call tickets search --argument query=login --argument limit=5",
    "trivet mcp call echo -- node server.js",
  ],
};

export const help: string = describeCommand(COMMAND);

export function describe(action: string): string | undefined {
  return describeAction(COMMAND, action);
}

export async function run(argv: readonly string[]): Promise<void> {
  const at = argv.indexOf("--");
  const command = at < 0 ? undefined : argv.slice(at + 1);
  if (command?.length === 0 || command?.[0] === "") throw new UsageError("missing command after --");
  const words = at < 0 ? argv : argv.slice(0, at);
  const { action, operands, values, given } = readAction(COMMAND, words);
  if (command && !action.takesCommand) throw new UsageError(`unexpected argument "${command[0]}"`);
  await interruptible(
    "mcp",
    (signal) =>
      action.run({
        values: values as Parameters<typeof action.run>[0]["values"],
        given,
        operands,
        command,
        signal,
      }),
  );
}
