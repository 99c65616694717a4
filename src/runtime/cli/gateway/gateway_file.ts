/**
 * The gateway to other MCP servers, from a file of the shape that MCP clients read.
 *
 * @module
 */
import process from "node:process";
import { gateway, type GatewayOptions } from "../../../gateway/gateway.ts";
import type { GatewayOption } from "../../../gateway/option.ts";
import {
  ConfigurationError,
  type McpServers,
} from "../../../gateway/upstream/configuration/configuration.ts";
import {
  findMcpServers,
  parseMcpServers,
} from "../../../gateway/upstream/configuration/parse_configuration.ts";
import { useFetch } from "../../../http/network/default_fetch.ts";
import { launchProcess } from "../../launch_process.ts";
import { readServerContent } from "../mcp/server_file.ts";
import { findMisspelled } from "../nearest.ts";
import { UsageError } from "../output.ts";
import { WatchedFiles } from "../serve/watch_files.ts";

/** The members of the file that are read. Others are those of MCP clients. */
const MEMBERS: readonly string[] = ["mcpServers", "servers", "policy", "hold"];

/** What the file has. */
export interface GatewayFile extends Pick<GatewayOptions, "policy" | "hold"> {
  readonly mcpServers: McpServers;
}

/** A gateway as the options want it. */
export interface CommandGateway {
  readonly option: GatewayOption;
  /** The file, and what it had at the start. */
  readonly file:
    | { readonly path: string; readonly content: GatewayFile; readonly watched: WatchedFiles }
    | undefined;
}

/**
 * Creates the gateway.
 * @param path the file of `--mcp-servers`
 * @param onStderr gets what MCP servers with a command write to standard error
 * @throws {UsageError} naming every problem of the file
 */
export function createGateway(
  path: string | undefined,
  onStderr: (upstream: string, line: string) => void,
): CommandGateway {
  if (!("Deno" in globalThis) && !("Bun" in globalThis)) useFetch(lazyFetch);
  // Before the file is read.
  const watched = new WatchedFiles();
  if (path !== undefined) watched.add(path);
  const content = path === undefined ? { mcpServers: {} } : readGatewayFile(path);
  const option = gateway({
    ...content,
    launch: launchProcess,
    variable: readVariable,
    onStderr,
  });
  return { option, file: path === undefined ? undefined : { path, content, watched } };
}

let loading: Promise<typeof import("../../node/node_fetch.ts")> | undefined;

/** Loaded by the first request: servers with a command need none. */
const lazyFetch = async (url: string, init: RequestInit): Promise<Response> =>
  (await (loading ??= import("../../node/node_fetch.ts"))).nodeFetch(url, init);

const readVariable = (name: string): string | undefined => process.env[name];

/** @throws {UsageError} for a file that cannot be read or is no configuration */
export function readGatewayFile(path: string): GatewayFile {
  try {
    const file = readServerContent(path);
    checkMembers(file);
    const { policy, hold } = file as Partial<GatewayFile>;
    const mcpServers = findMcpServers(file) as McpServers;
    parseMcpServers(mcpServers, readVariable);
    return { mcpServers, ...(policy !== undefined && { policy }), ...(hold !== undefined && { hold }) };
  } catch (error) {
    if (error instanceof ConfigurationError) throw new UsageError(`"${path}": ${error.message}`);
    throw new UsageError(`--mcp-servers: ${(error as Error).message}`);
  }
}

/** A misspelled "policy" would allow everything. @throws {ConfigurationError} */
function checkMembers(file: object): void {
  const problems = Object.keys(file).flatMap((key) => {
    const known = findMisspelled(key, MEMBERS);
    return known === undefined ? [] : [`${key}: unknown property. Did you mean "${known}"?`];
  });
  if (problems.length > 0) throw new ConfigurationError(problems);
}
