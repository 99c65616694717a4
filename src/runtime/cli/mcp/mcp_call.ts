/**
 * `trivet mcp call`: calls a tool. The arguments come from options, or from a form on the terminal; what the server asks
 * during the call is asked there, too.
 *
 * @module
 */
import process from "node:process";
import { MODERN } from "../../../mcp/era.ts";
import {
  type ClientExchange,
  type JsonObject,
  type McpClient,
  TASKS_EXTENSION,
} from "../../../mcp_client/client.ts";
import { McpError } from "../../../mcp_client/error.ts";
import { isObject } from "../../../json_schema/value.ts";
import { suggest } from "../nearest.ts";
import { printError, printJson } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { answerOnTerminal } from "./answer_server.ts";
import { openAsker } from "./ask.ts";
import { CONNECT_OPTIONS, withServer } from "./connect.ts";
import { type McpAction, mcpAction } from "./mcp_action.ts";
import { printResult } from "./print_result.ts";
import { ARGUMENT_OPTIONS, readToolArguments } from "./read_arguments.ts";
import { readOperands } from "./read_operands.ts";

/** The levels of RFC 5424 that MCP has, from least to most important. */
const LEVELS = ["debug", "info", "notice", "warning", "error", "critical", "alert", "emergency"] as const;
/** How long a call waits for a person, instead of `--timeout`. */
const PERSON_MS = 3_600_000;
/** The error of a server whose user must open an address first (2025-11-25). */
const URL_ELICITATION_REQUIRED = -32042;

export const call: McpAction = mcpAction({
  operands: "[SERVER] [TOOL]",
  summary: "calls a tool, with --argument or a form on the terminal, and prints the result",
  takesCommand: true,
  options: {
    ...ARGUMENT_OPTIONS,
    ask: { summary: "ask for arguments, and what the server asks, although standard input is no terminal" },
    save: { value: "DIR", summary: "write images, sounds and files of the result into this folder" },
    "log-level": {
      value: "LEVEL",
      words: LEVELS,
      summary: "show log messages from this level on",
      default: "info",
    },
    ...CONNECT_OPTIONS,
  },
  async run(call) {
    const { values, signal } = call;
    const [server, tool] = readOperands(call, ["SERVER", "TOOL"]);
    const readsInput = values["secret-stdin"] || values["token-stdin"] || values.input === "-";
    const asker = values.ask || process.stdin.isTTY && !readsInput ? openAsker() : undefined;
    const level = values["log-level"];
    try {
      await withServer(call, server!, {
        capabilities: {
          ...(asker && { elicitation: { form: {}, url: {} } }),
          extensions: { [TASKS_EXTENSION]: {} },
        },
        onNotification: (method, { level: of, data, logger }) => {
          if (method === "notifications/message") printLog(level, String(of), data, logger);
        },
      }, async ({ client, name }) => {
        const isPatient = asker !== undefined && !call.given.has("timeout");
        const timeout = values.timeout * 1000;
        const info = await client.connect({ signal, timeout });
        const definition = await findTool(client, tool!, { signal, timeout });
        const input = await readToolArguments(values, definition.inputSchema, asker, signal);
        if (info.revision < MODERN && info.capabilities.logging !== undefined) {
          await client.request("logging/setLevel", { level }, { signal, timeout });
        }
        const result = await callTool(client, tool!, input, {
          signal,
          timeout: isPatient ? PERSON_MS : timeout,
          logLevel: level,
          onLog: (of, data, logger) => printLog(level, of, data, logger),
          onProgress: printProgress,
          onServerRequest: asker && answerOnTerminal(asker, name),
        });
        if (values.json) printJson(result);
        else printResult(tool!, result, values.save);
        if (result.isError === true) throw new Error(printableText(`the tool ${tool} failed`));
      });
    } finally {
      asker?.close();
    }
  },
});

async function findTool(client: McpClient, name: string, exchange: ClientExchange): Promise<JsonObject> {
  const tools = await client.listAll("tools", exchange);
  const found = tools.find((each) => each.name === name);
  if (found) return found;
  const names = tools.map((each) => String(each.name));
  const near = suggest(name, names) || `. It has ${names.slice(0, 50).join(", ") || "none"}`;
  throw new Error(printableText(`the server has no tool "${name}"${near}`));
}

async function callTool(
  client: McpClient,
  name: string,
  input: JsonObject,
  exchange: ClientExchange,
): Promise<JsonObject> {
  try {
    return await client.request("tools/call", { name, arguments: input }, exchange);
  } catch (error) {
    if (!(error instanceof McpError) || error.code !== URL_ELICITATION_REQUIRED) throw error;
    const { elicitations } = Object(error.data) as { elicitations?: unknown };
    for (const each of Array.isArray(elicitations) ? elicitations.filter(isObject) : []) {
      printError(printableText(`${each.message}: open ${each.url} in a browser, and call again`));
    }
    throw error;
  }
}

function printLog(least: string, level: string, data: unknown, logger: unknown): void {
  const isShown =
    LEVELS.indexOf(level as typeof LEVELS[number]) >= LEVELS.indexOf(least as typeof LEVELS[number]);
  if (!isShown) return;
  const source = typeof logger === "string" ? ` ${logger}` : "";
  const text = typeof data === "string" ? data : JSON.stringify(data);
  printError(printableText(`[${level}${source}] ${text}`));
}

function printProgress(progress: number, total: number | undefined, message: string | undefined): void {
  const of = total === undefined ? "" : ` of ${total}`;
  printError(printableText(`progress: ${progress}${of}${message === undefined ? "" : ` ${message}`}`));
}
