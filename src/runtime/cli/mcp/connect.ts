/**
 * Connects to the server that an action names: a URL, a command after `--`, or a name in a file of servers.
 *
 * @module
 */
import process from "node:process";
import type {
  McpServer,
  UpstreamConfiguration,
} from "../../../gateway/upstream/configuration/configuration.ts";
import { parseMcpServer } from "../../../gateway/upstream/configuration/parse_configuration.ts";
import { createTransports } from "../../../gateway/upstream/transports.ts";
import { isLoopbackHost } from "../../../http/network/loopback.ts";
import { isObject } from "../../../json_schema/value.ts";
import type { ClientCapabilities, McpClient, McpClientOptions } from "../../../mcp_client/client.ts";
import { createMcpClient } from "../../../mcp_client/create_client.ts";
import { ConnectionError, McpError } from "../../../mcp_client/error.ts";
import { VERSION } from "../../../version.ts";
import { launchProcess } from "../../launch_process.ts";
import { explainFailure, NotSentError } from "../api/api_error.ts";
import { readSecretFromStdin } from "../admin/secret_input.ts";
import { SERVER_OPTIONS } from "../api/server_options.ts";
import type { ValuesOf } from "../options.ts";
import { printError, UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import type { McpCall } from "./mcp_action.ts";
import { findServerFile, getServer, readServerFile } from "./server_file.ts";
import { readGivenValues, readVariable, VALUE_OPTIONS } from "./server_options.ts";

const OWN_OPTIONS = {
  "token-env": {
    value: "NAME",
    summary: "send the bearer token in this environment variable to a server with a URL",
  },
  "token-stdin": { summary: "send the bearer token on standard input to a server with a URL" },
  stderr: { summary: "show what the command writes to standard error" },
} as const;

/** The options of the actions that connect. */
export const CONNECT_OPTIONS:
  & typeof VALUE_OPTIONS
  & typeof OWN_OPTIONS
  & Pick<typeof SERVER_OPTIONS, "timeout"> = {
    ...VALUE_OPTIONS,
    ...OWN_OPTIONS,
    timeout: SERVER_OPTIONS.timeout,
  };

/** Lines of standard error that are kept to explain a failure. */
const MAX_LINES = 20;
/** Members of a file that say how a server is reached. Others are for other clients. */
const TARGET_MEMBERS: readonly string[] = ["type", "command", "args", "env", "cwd", "url", "headers"];

export interface OpenServer {
  readonly client: McpClient;
  /** What people call it. */
  readonly name: string;
  /** Where it has one. */
  readonly url: string | undefined;
}

/**
 * Makes a client, runs the work and closes the client. The work connects.
 * @param server the operand; empty with a command
 * @throws {UsageError} for what names no server
 */
export async function withServer<Result>(
  call: Pick<McpCall, "command" | "signal"> & {
    readonly values: ValuesOf<typeof CONNECT_OPTIONS> & { file: string | undefined };
  },
  server: string,
  options: Pick<McpClientOptions, "onNotification"> & { readonly capabilities?: ClientCapabilities },
  work: (server: OpenServer) => Promise<Result>,
): Promise<Result> {
  const configuration = await readTarget(call, server);
  const { target, name } = configuration;
  const lines: string[] = [];
  const transport = createTransports({
    launch: launchProcess,
    onStderr: (_, line) => {
      if (call.values.stderr) printError(`[${printableText(name)}] ${printableText(line)}`);
      else if (lines.push(line) > MAX_LINES) lines.shift();
    },
  })(configuration, {
    partition: () => "",
    headers: () => Promise.resolve(target.type === "stdio" ? {} : target.headers),
    refused: () => Promise.resolve(false),
  });
  const client = createMcpClient({ ...options, name: "trivet", version: VERSION, transport });
  try {
    const url = target.type === "stdio" ? undefined : target.url;
    return await work({ client, name, url });
  } catch (error) {
    if (error instanceof ConnectionError && !call.signal.aborted) {
      for (const line of lines) printError(`[${printableText(name)}] ${printableText(line)}`);
    }
    throw toPlainError(error);
  } finally {
    await client.close();
  }
}

/** An error whose message may come from a server, as one that can be printed. */
export function toPlainError(error: unknown): unknown {
  if (!(error instanceof McpError || error instanceof ConnectionError)) return error;
  const found = error instanceof ConnectionError && error.reason === "unreachable" &&
      URL.canParse(error.server)
    ? explainFailure(new URL(error.server), error.cause, "the URL")
    : undefined;
  if (found instanceof NotSentError) return found;
  const code = error instanceof McpError ? ` (code ${error.code})` : "";
  return new Error(printableText(error.message, 2000) + code, { cause: error });
}

async function readTarget(
  { values, command }: Parameters<typeof withServer>[0],
  server: string,
): Promise<UpstreamConfiguration> {
  const isUrl = /^https?:\/\//i.test(server);
  const found: McpServer = command
    ? { command: command[0]!, args: command.slice(1) }
    : isUrl
    ? { url: server }
    : readEntry(values.file, server);
  const isCommand = "command" in found;
  const given = await readGivenValues(values, { isCommand, isResolved: true });
  const name = isUrl || command ? isCommand ? found.command : new URL(server).host : server;
  let parsed: UpstreamConfiguration;
  try {
    // The name of an entry is checked by who adds it.
    parsed = parseMcpServer("server", found, readVariable)!;
  } catch (error) {
    if (error instanceof TypeError) {
      throw new UsageError(error.message.replaceAll("mcpServers.server", printableText(name)), {
        cause: error,
      });
    }
    throw error;
  }
  const token = await readToken(values);
  const { target } = parsed;
  if (target.type === "stdio") {
    if (token !== undefined) throw new UsageError("a token needs a server with a URL: a command gets --env");
    return { ...parsed, name, target: { ...target, env: { ...target.env, ...given.env } } };
  }
  const own = { ...given.headers, ...(token !== undefined && { Authorization: `Bearer ${token}` }) };
  const isSecure = target.url.startsWith("https:") || isLoopbackHost(new URL(target.url).hostname);
  if (Object.keys(own).length > 0 && !isSecure) {
    throw new UsageError(
      `${new URL(target.url).host} needs https: everyone on the way could read the credentials`,
    );
  }
  return { ...parsed, name, target: { ...target, headers: mergeFields(target.headers, own) } };
}

function readEntry(named: string | undefined, name: string): McpServer {
  const file = readServerFile(findServerFile(named));
  const entry: unknown = getServer(file, name);
  if (!isObject(entry)) {
    throw new Error(printableText(`"${file.path}": the server "${name}" must be an object`));
  }
  const members = Object.entries(entry).filter(([member]) => TARGET_MEMBERS.includes(member));
  return Object.fromEntries(members) as unknown as McpServer;
}

async function readToken(
  { "token-env": variable, "token-stdin": isOnStdin }: ValuesOf<typeof CONNECT_OPTIONS>,
): Promise<string | undefined> {
  if (variable !== undefined && isOnStdin) {
    throw new UsageError("--token-env and --token-stdin exclude each other");
  }
  if (variable === undefined && !isOnStdin) return undefined;
  const token = isOnStdin ? await readSecretFromStdin("token") : process.env[variable!];
  if (token === undefined) throw new UsageError(`environment variable ${variable} is not set`);
  // A text that no header field can hold would be quoted in the runtime's error.
  if (/^[\x21-\x7e]+$/.test(token.trim())) return token.trim();
  throw new UsageError(`${variable ?? "standard input"} must contain one token and nothing else`);
}

/** Fields of the command line replace those of the file, in any case. */
function mergeFields(
  fields: Readonly<Record<string, string>>,
  own: Readonly<Record<string, string>>,
): Record<string, string> {
  const names = new Set(Object.keys(own).map((name) => name.toLowerCase()));
  const kept = Object.entries(fields).filter(([name]) => !names.has(name.toLowerCase()));
  return { ...Object.fromEntries(kept), ...own };
}
