/**
 * `trivet/mcp`: the tool server alone. Anonymous callers see what needs no scope; `authenticate` identifies others.
 *
 * @module
 */
import { type Authenticate, toIdentifyCaller } from "./http/authenticate.ts";
import type { Extension } from "./mcp/definition/extension.ts";
import { createToolServer, type ToolServer } from "./mcp/service.ts";
import { convertSchemasOf } from "./mcp/schema/schema_vendor.ts";
import { toJsonSchema } from "./mcp/schema/valibot_json_schema.ts";
import { completeMcp, type McpOptions } from "./mcp_options.ts";
import { type Handler, mount } from "./mount.ts";
import { completeServer, type ServerOptions } from "./server_options.ts";

convertSchemasOf("valibot", toJsonSchema);

export interface McpServerOptions extends ServerOptions, Omit<McpOptions, "skills"> {
  /** The address of this server: https (http on loopback), without query or fragment. Never taken from a request. */
  readonly url: string;
  /** Identifies callers by their credentials, such as an access token. @default none: `auth` is `off` */
  readonly authenticate?: Authenticate;
  /** The address of the protected resource metadata that challenges name (RFC 9728). @default none */
  readonly resourceMetadata?: string;
  /** What each scope implies. @default nothing */
  readonly impliedScopes?: Readonly<Record<string, readonly string[]>>;
  /** Extensions, such as `skillsExtension(skills.catalog)` of a Skills service. @default none */
  readonly extensions?: readonly Extension[];
}

export type McpServer = Handler & Omit<ToolServer, "fetch" | "mounts">;

/**
 * Makes the tool server.
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function toolServer(options: McpServerOptions): McpServer {
  const { url, authenticate, resourceMetadata, auth, extensions = [] } = options;
  if (!authenticate && auth !== undefined && auth !== "off") {
    throw new TypeError(`Cannot create Trivet: "auth" is "${auth}", which needs "authenticate"`);
  }
  const server = completeServer("url", url, options);
  const tools = createToolServer(
    completeMcp({ ...options, auth: authenticate ? auth ?? "optional" : "off" }, {
      ...server,
      issuer: url,
      extensions,
      identify: toIdentifyCaller(authenticate ?? (() => undefined)),
      implied: new Map(
        Object.entries(options.impliedScopes ?? {}).map(([name, all]) => [name, new Set(all)]),
      ),
      resourceMetadata,
    }),
  );
  const { mounts: _, ...own } = tools;
  return { ...own, ...mount(server, { services: [tools] }) };
}

export type { Authenticate, Extension, Handler, McpOptions, ServerOptions };
export { skillsExtension } from "./mcp/skills/skills_extension.ts";
export type { TrivetEvent } from "./events.ts";
export type { Principal } from "./http/principal.ts";
export {
  type Definition,
  prompt,
  resource,
  resourceTemplate,
  tool,
  ToolError,
} from "./mcp/definition/definition.ts";
export { convertSchemasOf };
export type { ToJsonSchema } from "./mcp/schema/schema_vendor.ts";
export { type Definitions, group, type Middleware } from "./mcp/definition/group.ts";
export type { CallContext } from "./mcp/context.ts";
export type { ContentItem, ToolResult } from "./mcp/definition/content.ts";
export { MissingCapabilityError, ScopeError } from "./mcp/error.ts";
export { RpcError } from "./jsonrpc/error.ts";
