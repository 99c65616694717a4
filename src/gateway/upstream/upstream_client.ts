/**
 * Creates the clients of an upstream, one for each connection.
 *
 * @module
 */
import type { McpClient, McpClientOptions } from "../../mcp_client/client.ts";
import type { ClientTransport } from "../../mcp_client/transport.ts";
import type { UpstreamAccess } from "../credentials/access.ts";
import type { UpstreamConfiguration } from "./configuration/configuration.ts";
import { ALL_CAPABILITIES } from "./proxy/exchange.ts";

/** What the clients of all upstreams share. */
export interface ClientHost {
  createClient(options: McpClientOptions): McpClient;
  createTransport(configuration: UpstreamConfiguration, access: UpstreamAccess): ClientTransport;
  readonly client: Pick<McpClientOptions, "name" | "version">;
  /** Bytes of a message of an upstream. */
  readonly messageBytes: number;
}

const MAX_LIST_BYTES = 16 * 1024 * 1024;

export function createUpstreamClient(
  { createClient, createTransport, client, messageBytes }: ClientHost,
  configuration: UpstreamConfiguration,
  access: UpstreamAccess,
  events: Pick<McpClientOptions, "onNotification" | "onClosed">,
): McpClient {
  const { revision, timeout } = configuration;
  return createClient({
    ...client,
    ...events,
    transport: createTransport(configuration, access),
    revision,
    capabilities: ALL_CAPABILITIES,
    // The schemas are for the clients of the gateway.
    checkOutput: false,
    limits: { messageBytes, listBytes: MAX_LIST_BYTES, timeout },
  });
}
