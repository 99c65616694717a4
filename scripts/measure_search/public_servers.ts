/**
 * Public MCP servers of npm, installed into a temporary folder and connected over stdio, as tools of one server.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { tool } from "../../src/mcp/definition/define.ts";
import type { ToolDefinition } from "../../src/mcp/definition/definition.ts";
import { connectMcp, type McpClient, processTransport } from "../../src/mcp_client.ts";
import { launchProcess } from "../../src/runtime/launch_process.ts";

interface PublicServer {
  /** Before the names of its tools. */
  readonly name: string;
  readonly package: string;
  readonly command: string;
  readonly args: readonly string[];
}

/** What only lists its tools here gets a token that works nowhere. */
const NO_TOKEN = "none";

export const SERVERS: readonly PublicServer[] = [
  {
    name: "everything",
    package: "@modelcontextprotocol/server-everything@2026.8.31",
    command: "mcp-server-everything",
    args: [],
  },
  {
    name: "filesystem",
    package: "@modelcontextprotocol/server-filesystem@2026.8.31",
    command: "mcp-server-filesystem",
    args: ["."],
  },
  {
    name: "memory",
    package: "@modelcontextprotocol/server-memory@2026.8.31",
    command: "mcp-server-memory",
    args: [],
  },
  {
    name: "github",
    package: "@modelcontextprotocol/server-github@2025.4.8",
    command: "mcp-server-github",
    args: [],
  },
  {
    name: "playwright",
    package: "@playwright/mcp@0.0.83",
    command: "playwright-mcp",
    args: ["--headless"],
  },
  {
    name: "chrome",
    package: "chrome-devtools-mcp@1.11.0",
    command: "chrome-devtools-mcp",
    args: ["--headless"],
  },
  {
    name: "notion",
    package: "@notionhq/notion-mcp-server@2.5.2",
    command: "notion-mcp-server",
    args: [],
  },
];

/** Installs the servers, without their install scripts, and what counts tokens. */
export function install(folder: string): void {
  mkdirSync(folder, { recursive: true });
  writeFileSync(join(folder, "package.json"), '{ "private": true, "type": "module" }');
  const packages = [...SERVERS.map((server) => server.package), "gpt-tokenizer@^3.4.0"];
  const installed = spawnSync("npm", [
    "install",
    "--no-audit",
    "--no-fund",
    "--ignore-scripts",
    ...packages,
  ], { cwd: folder, encoding: "utf8" });
  if (installed.status !== 0) throw new Error(`Cannot install the servers: ${installed.stderr}`);
}

/** A connected server, and its tools as definitions that call it. */
export interface ConnectedServer {
  readonly client: McpClient;
  readonly tools: readonly ToolDefinition[];
}

/** @param work the folder that the file server may use */
export async function connect(
  { name, command, args }: PublicServer,
  folder: string,
  work: string,
): Promise<ConnectedServer> {
  const launch = launchProcess({
    command: join(folder, "node_modules/.bin", command),
    args,
    cwd: work,
    env: {
      GITHUB_PERSONAL_ACCESS_TOKEN: NO_TOKEN,
      NOTION_TOKEN: NO_TOKEN,
      MEMORY_FILE_PATH: join(work, ".memory"),
    },
  });
  const capabilities = { elicitation: {}, sampling: {}, roots: {} };
  const client = await connectMcp({
    transport: processTransport(launch),
    capabilities,
    onServerRequest: () => Promise.resolve({ roots: [] }),
  });
  const listed = await client.listAll("tools") as {
    name: string;
    description?: string;
    title?: string;
    inputSchema: Record<string, unknown>;
    outputSchema?: Record<string, unknown>;
    annotations?: Record<string, boolean>;
  }[];
  return {
    client,
    tools: listed.map((each) =>
      tool(
        {
          name: `${name}_${each.name}`,
          title: each.title,
          description: each.description ?? "",
          input: each.inputSchema,
          annotations: each.annotations,
          ...(each.outputSchema && { output: each.outputSchema }),
          run: async (input: unknown) =>
            await client.request("tools/call", { name: each.name, arguments: input }),
        } as Parameters<typeof tool>[0],
      )
    ),
  };
}
