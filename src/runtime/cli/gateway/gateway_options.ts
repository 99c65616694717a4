/**
 * The options `--mcp-servers`, `--gateway` and `--search-tools` of `trivet serve` and `trivet stdio`. The gateway is loaded
 * only for them.
 *
 * @module
 */
import type { Arrange } from "../../../mcp/definition/definition_source.ts";
import type { CommandGateway } from "./gateway_file.ts";

export const GATEWAY_OPTIONS = {
  "mcp-servers": {
    value: "FILE",
    summary:
      `offer the tools of other MCP servers too: a JSON file with "mcpServers", as MCP clients have it; it can
      have "policy" and "hold" as well. Servers that are added, changed or removed in the file are followed`,
    shownDefault: "none",
  },
  gateway: {
    summary:
      "offer the MCP servers that administrators add while the server runs; --mcp-servers does so, too",
  },
  "search-tools": {
    summary: "offer three tools that find, describe and call all tools and skills, in place of all tools",
  },
} as const;

/** Values of the options. */
export interface GatewayValues {
  readonly "mcp-servers": string | undefined;
  readonly gateway: boolean;
  readonly "search-tools": boolean;
}

/**
 * Reads the options; `undefined` when no gateway is wanted.
 * @param onStderr gets what MCP servers with a command write to standard error
 * @throws {UsageError} naming every problem of the file
 */
export async function readGateway(
  { "mcp-servers": path, gateway }: GatewayValues,
  onStderr: (upstream: string, line: string) => void,
): Promise<CommandGateway | undefined> {
  if (path === undefined && !gateway) return undefined;
  return (await import("./gateway_file.ts")).createGateway(path, onStderr);
}

/** The option `arrange` of the MCP server. */
export async function readArrange(values: GatewayValues): Promise<Arrange | undefined> {
  return values["search-tools"]
    ? (await import("../../../gateway/search/search_mode.ts")).searchMode()
    : undefined;
}
