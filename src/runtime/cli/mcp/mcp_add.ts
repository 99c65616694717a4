/**
 * `trivet mcp add`: adds a server to the gateway.
 *
 * @module
 */
import type { McpServer } from "../../../gateway/upstream/configuration/configuration.ts";
import { parseMcpServer } from "../../../gateway/upstream/configuration/parse_configuration.ts";
import { printLine, UsageError } from "../output.ts";
import { printableJson, printableText } from "../printable_text.ts";
import { type McpAction, mcpAction } from "./mcp_action.ts";
import { readGivenValues, readVariable, VALUE_OPTIONS } from "./server_options.ts";
import { PLACE_OPTIONS, withServerPlace } from "./server_place.ts";

const AUTH_TYPES: readonly string[] = ["none", "oauth", "secret"];

export const add: McpAction = mcpAction({
  operands: "NAME [URL]",
  summary: "adds a server with a URL, or with a command after --",
  takesCommand: true,
  options: {
    ...VALUE_OPTIONS,
    type: {
      value: "TYPE",
      words: ["http", "sse"],
      summary: "the transport to a URL",
      shownDefault: "found out",
    },
    cwd: { value: "DIR", summary: "the folder of the command" },
    prefix: {
      value: "PREFIX",
      summary: "the beginning of the names of its tools",
      shownDefault: "NAME",
      canBeEmpty: true,
    },
    tool: {
      value: "PATTERN",
      isRepeatable: true,
      summary: "offer only its tools with such a name, with * and ?",
      shownDefault: "all",
    },
    auth: {
      value: "TYPE",
      summary: "how users authenticate to it: none, oauth, secret, or an object in JSON",
      parse: (text: string) => parseAuth(text),
      expected: `one of ${AUTH_TYPES.join(", ")}, or a JSON object`,
      isSecret: true,
    },
    scope: { value: "SCOPE", isRepeatable: true, summary: "a scope that callers need", shownDefault: "none" },
    ...PLACE_OPTIONS,
  },
  async run(call) {
    const { values, operands: [name, url], command } = call;
    if ((url === "") === (command === undefined)) {
      throw new UsageError(
        url === "" ? "missing argument: URL, or -- COMMAND" : "a URL and a command exclude each other",
      );
    }
    const isFile = values.file !== undefined;
    if (isFile && values["secret-stdin"]) {
      throw new UsageError("--file keeps no secrets: use ${NAME}, an environment variable of the server");
    }
    const { type, cwd, prefix, tool: tools, auth, scope: scopes } = values;
    if (command && type) throw new UsageError("--type needs a URL");
    if (!command && cwd !== undefined) throw new UsageError("--cwd needs a command");
    const options = { isCommand: command !== undefined, isResolved: !isFile };
    const [program, ...args] = command ?? [];
    const server = withoutAbsent({
      type,
      ...(command ? { command: program, args: args.length > 0 ? args : undefined, cwd } : { url }),
      ...await readGivenValues(values, options),
      prefix,
      tools,
      scopes,
      auth,
    }) as unknown as McpServer;
    check(name!, server);
    const added = await withServerPlace(call, (place) => place.add(name!, server));
    printLine(
      values.json ? printableJson(added) : `Added ${printableText(`${added.name}: ${added.server}`)}`,
    );
  },
});

/** @throws {UsageError} naming what is wrong */
function check(name: string, server: McpServer): void {
  try {
    // A variable of the file is one of the server, not of this command.
    parseMcpServer(name, server, (variable) => readVariable(variable) ?? "variable");
  } catch (error) {
    if (error instanceof TypeError) throw new UsageError(error.message, { cause: error });
    throw error;
  }
}

function parseAuth(text: string): unknown {
  if (AUTH_TYPES.includes(text)) return { type: text };
  try {
    return text.startsWith("{") ? JSON.parse(text) : undefined;
  } catch {
    return undefined;
  }
}

function withoutAbsent(members: Readonly<Record<string, unknown>>): Record<string, unknown> {
  return Object.fromEntries(Object.entries(members).filter(([, value]) => value !== undefined));
}
