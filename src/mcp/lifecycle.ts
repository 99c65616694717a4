/**
 * `initialize`, `notifications/initialized` and `ping`
 * (https://modelcontextprotocol.io/specification/2025-11-25/basic/lifecycle). No session is kept: every request can be
 * answered by itself, before a handshake too.
 *
 * @module
 */
import { INVALID_PARAMS, RpcError } from "../jsonrpc/error.ts";
import type { Method } from "../jsonrpc/dispatch.ts";
import type { CallContext } from "./definition.ts";
import { negotiate } from "./era.ts";
import { requireObject } from "./params.ts";
import type { Registry } from "./registry.ts";

export interface ServerInfo {
  readonly name: string;
  readonly version: string;
  readonly instructions: string | undefined;
}

/** The methods of the handshake. */
export function lifecycleMethods(
  { name, version, instructions }: ServerInfo,
  registry: Registry,
): [string, Method<CallContext>][] {
  const { tools, resources, templates, prompts } = registry;
  const constant = {
    capabilities: {
      ...(tools.size > 0 && { tools: {} }),
      ...(resources.size + templates.length > 0 && { resources: {} }),
      ...(prompts.size > 0 && { prompts: {} }),
    },
    serverInfo: { name, version },
    ...(instructions !== undefined && { instructions }),
  };
  return [
    ["initialize", (params) => {
      const { protocolVersion, capabilities, clientInfo } = requireObject(params);
      if (typeof protocolVersion !== "string") {
        throw new RpcError(
          INVALID_PARAMS,
          "Invalid params: protocolVersion must be a string such as 2025-11-25",
        );
      }
      for (const [member, value] of Object.entries({ capabilities, clientInfo })) {
        if (value !== undefined && (typeof value !== "object" || value === null || Array.isArray(value))) {
          throw new RpcError(INVALID_PARAMS, `Invalid params: ${member} must be an object`);
        }
      }
      return { protocolVersion: negotiate(protocolVersion), ...constant };
    }],
    ["notifications/initialized", () => ({})],
    ["notifications/cancelled", () => ({})],
    ["ping", () => ({})],
  ];
}
