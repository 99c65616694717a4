/**
 * The transports of upstreams, from their configuration.
 *
 * @module
 */
import type { Principal } from "../../http/principal.ts";
import { httpTransport } from "../../mcp_client/transports/http_transport.ts";
import { processTransport } from "../../mcp_client/transports/process_transport.ts";
import { sseTransport } from "../../mcp_client/transports/sse_transport.ts";
import type { ClientTransport, HttpTransportOptions, Launch } from "../../mcp_client/transport.ts";
import type { UpstreamAccess } from "../credentials/access.ts";
import { ConfigurationError, type UpstreamConfiguration } from "./configuration/configuration.ts";

/** Starts the process of an upstream: `launchProcess` of `trivet/launch-process`. */
export type LaunchUpstream = (options: {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string>>;
  readonly cwd?: string;
  readonly onStderr: (line: string) => void;
}) => Launch;

export interface TransportsOptions {
  readonly launch?: LaunchUpstream;
  readonly fetch?: (url: string, init: RequestInit) => Promise<Response>;
  readonly onStderr?: (upstream: string, line: string) => void;
}

export type CreateTransport = (
  configuration: UpstreamConfiguration,
  access: UpstreamAccess,
) => ClientTransport;

/** Creates the function that makes the transport of an upstream. */
export function createTransports({ launch, fetch, onStderr }: TransportsOptions): CreateTransport {
  return ({ name, target }, access) => {
    if (target.type === "stdio") {
      if (!launch) throw refuseProcess(name);
      const { command, args, env, cwd } = target;
      return processTransport(launch({
        command,
        args,
        env,
        ...(cwd !== undefined && { cwd }),
        onStderr: (line) => onStderr?.(name, line),
      }));
    }
    const options: HttpTransportOptions = {
      url: target.url,
      fetch,
      headers: async (caller, signal) => await access.headers(caller as Principal | undefined, signal),
      onRefused: (caller, refusal, signal) =>
        access.refused(caller as Principal | undefined, refusal, signal),
    };
    if (target.type === "sse") return sseTransport(options);
    const transport = httpTransport(options);
    return target.type === "http" ? { ...transport, fallback: undefined } : transport;
  };
}

/** The error for an upstream with a command where processes cannot be started. */
export function refuseProcess(name: string): ConfigurationError {
  return new ConfigurationError([
    `mcpServers.${name}.command: this server cannot start processes. Pass the option "launch", or use a url`,
  ]);
}
