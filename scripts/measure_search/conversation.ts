/**
 * What a model sends and gets, over the handler of a server, as a client of 2026-07-28.
 *
 * @module
 */
import type { McpServer } from "../../src/mcp_service.ts";
import type { Step } from "./tasks.ts";

/** The calls of a task, one after the other. */
export type Conversation = readonly Step[];

const META = "io.modelcontextprotocol/";

interface Result {
  readonly tools?: readonly { name: string; description?: string; inputSchema: unknown }[];
  readonly content?: readonly { readonly type: string; readonly text?: string }[];
  readonly isError?: boolean;
}

async function request(server: McpServer, method: string, params: Record<string, unknown>): Promise<Result> {
  const response = await server.fetch(
    new Request("http://127.0.0.1:8787/mcp", {
      method: "POST",
      headers: {
        "content-type": "application/json",
        accept: "application/json, text/event-stream",
        "mcp-protocol-version": "2026-07-28",
        "mcp-method": method,
        ...(typeof params.name === "string" && { "mcp-name": params.name }),
      },
      body: JSON.stringify({
        jsonrpc: "2.0",
        id: 1,
        method,
        params: {
          ...params,
          _meta: {
            [META + "protocolVersion"]: "2026-07-28",
            [META + "clientInfo"]: { name: "measure", version: "1" },
            [META + "clientCapabilities"]: {},
          },
        },
      }),
    }),
  );
  const { result, error } = await response.json() as { result?: Result; error?: { message: string } };
  if (!result) throw new Error(`${method}: ${error?.message}`);
  return result;
}

/** The tools as a model reads them, in JSON. */
export async function listTools(server: McpServer): Promise<string> {
  const { tools = [] } = await request(server, "tools/list", {});
  return JSON.stringify(
    tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema })),
  );
}

/** The text of a tool's result. @throws {Error} when the tool fails: then the task is not measured */
export async function callTool(server: McpServer, name: string, input: unknown): Promise<string> {
  const { content = [], isError } = await request(server, "tools/call", { name, arguments: input });
  const text = content.map((item) => item.text ?? JSON.stringify(item)).join("\n");
  if (isError) throw new Error(`${name} ${JSON.stringify(input)}: ${text}`);
  return text;
}
