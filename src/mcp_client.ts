/**
 * `trivet/mcp-client`: a client of MCP servers, for every revision, over Streamable HTTP, HTTP+SSE and stdio.
 *
 * ```ts
 * import { connectMcp } from "trivet/mcp-client";
 * const client = await connectMcp({ url: "https://tools.example.com/mcp" });
 * const tools = await client.listAll("tools");
 * const result = await client.request("tools/call", { name: "add", arguments: { a: 1, b: 2 } });
 * await client.close();
 * ```
 *
 * @module
 */
import type { McpClient, McpClientOptions } from "./mcp_client/client.ts";
import { createMcpClient } from "./mcp_client/create_client.ts";
import { httpTransport } from "./mcp_client/transports/http_transport.ts";
import type { HttpTransportOptions } from "./mcp_client/transport.ts";
import { checkNames, type Names } from "./options/option_check.ts";
import { VERSION } from "./version.ts";

/** What `connectMcp` connects to: a URL, or a transport. */
export type ConnectMcpOptions =
  & Partial<Omit<McpClientOptions, "transport">>
  & ({ readonly transport: McpClientOptions["transport"] } | HttpTransportOptions);

const NAMES: Names<McpClientOptions & HttpTransportOptions> = {
  transport: "object",
  url: "unknown",
  fetch: "function",
  headers: "unknown",
  onRefused: "function",
  name: "string",
  version: "string",
  title: "string",
  capabilities: "object",
  revision: "string",
  limits: "object",
  checkOutput: "boolean",
  onNotification: "function",
  onServerRequest: "function",
  onClosed: "function",
};

/**
 * Connects to a server, with the newest revision that both have.
 * @throws {ConnectionError} @throws {McpError}
 * @throws {TypeError} if the URL is not one of HTTP, or an option does not exist
 */
export async function connectMcp(options: ConnectMcpOptions): Promise<McpClient> {
  checkNames("connectMcp", options, NAMES);
  const transport = "transport" in options ? options.transport : httpTransport(options);
  const { name = "trivet", version = VERSION } = options;
  const client = createMcpClient({ ...options, name, version, transport });
  await client.connect();
  return client;
}

export { createMcpClient } from "./mcp_client/create_client.ts";
export { httpTransport } from "./mcp_client/transports/http_transport.ts";
export { sseTransport } from "./mcp_client/transports/sse_transport.ts";
export { processTransport } from "./mcp_client/transports/process_transport.ts";
export { TASKS_EXTENSION } from "./mcp_client/client.ts";
export { ConnectionError, McpError } from "./mcp_client/error.ts";
export type {
  AnswerServerRequest,
  ClientCapabilities,
  ClientExchange,
  ClientLimits,
  ConnectionInfo,
  JsonObject,
  ListName,
  McpClient,
  McpClientOptions,
} from "./mcp_client/client.ts";
export type { ConnectionErrorDetails, ConnectionErrorReason } from "./mcp_client/error.ts";
export type {
  Channel,
  ClientTransport,
  HttpTransportOptions,
  IncomingResponse,
  Launch,
  LaunchedProcess,
  OutgoingMessage,
  OutgoingRequest,
  ProcessEvents,
  Receiver,
  Refusal,
} from "./mcp_client/transport.ts";
