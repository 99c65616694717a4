/**
 * `trivet/mcp`: the tool server alone. Anonymous callers see what needs no scope; `authenticate` identifies others.
 *
 * @module
 */
import { type Authenticate, type CallerSource, toCallerSource } from "./http/authenticate.ts";
import type { Gateway, GatewayOption } from "./gateway/option.ts";
import type { Extension } from "./mcp/definition/extension.ts";
import { closeScopes } from "./http/principal.ts";
import type { Service } from "./http/service.ts";
import { createToolServer, type ToolServer } from "./mcp/service.ts";
import { completeMcp, type McpOptions } from "./options/mcp_options.ts";
import { checkMade, checkNames, checkTexts, invalidOption, type Names } from "./options/option_check.ts";
import { MCP_NAMES, SERVER_NAMES } from "./options/option_names.ts";
import { type Handler, mount } from "./mount.ts";
import { completeServer, type ServerOptions } from "./options/server_options.ts";

/** Options of a tool server that runs alone. */
export interface McpServerOptions extends ServerOptions, Omit<McpOptions, "skills"> {
  /** The address of this server: https (http on loopback), without query or fragment. Never taken from a request. */
  readonly url: string;
  /** Identifies callers by their credentials: a function, or `resourceServer` of `trivet/protect`. @default none: `auth` is `off` */
  readonly authenticate?: Authenticate | CallerSource;
  /** The address of the protected resource metadata that challenges name (RFC 9728). @default that of `authenticate`, if any */
  readonly resourceMetadata?: string;
  /** What each scope implies, and through it what that implies. @default nothing */
  readonly impliedScopes?: Readonly<Record<string, readonly string[]>>;
  /** Extensions, such as `skillsExtension(skills.catalog)` of a Skills service. @default none */
  readonly extensions?: readonly Extension[];
  /** Other MCP servers, offered by this one: `gateway()` of `trivet/gateway`. @default none */
  readonly gateway?: GatewayOption | undefined;
}

/** A tool server that runs alone. */
export interface McpServer extends Handler, Omit<ToolServer, keyof Service> {
  readonly gateway: Gateway | undefined;
}

const NAMES: Names<McpServerOptions> = {
  ...SERVER_NAMES,
  ...MCP_NAMES,
  url: "string",
  authenticate: "unknown",
  resourceMetadata: "string",
  impliedScopes: "object",
  extensions: "unknown[]",
  gateway: "object",
};

/**
 * Makes the tool server.
 * @throws {TypeError | RangeError} naming the option and the rule
 */
export function toolServer(options: McpServerOptions): McpServer {
  checkNames("options", options, NAMES);
  const { url, auth, extensions = [] } = options;
  checkMade("gateway", options.gateway, "connect", "gateway() of trivet/gateway");
  const source = toCallerSource(options.authenticate);
  if (!source && auth !== undefined && auth !== "off") {
    throw invalidOption("auth", "off without authenticate", auth);
  }
  const server = completeServer("url", url, options);
  const { impliedScopes = {} } = options;
  for (const [name, all] of Object.entries(impliedScopes)) checkTexts(`impliedScopes.${name}`, all);
  const implied = closeScopes(impliedScopes);
  const { name = "trivet" } = options;
  const parts = options.gateway?.connect({ ...server, issuer: url, implied, oauth: undefined, name });
  const tools = createToolServer(
    completeMcp({ ...options, auth: source ? auth ?? "optional" : "off" }, {
      ...server,
      issuer: url,
      extensions,
      identify: source?.identify ?? (() => "none"),
      implied,
      ...parts?.server,
      resourceMetadata: options.resourceMetadata ?? source?.resourceMetadata,
    }),
  );
  parts?.attach(tools);
  const { mounts: _, limitName: __, refuseLimited: ___, ...own } = tools;
  const services = [tools, ...source?.service ? [source.service] : [], ...parts?.services ?? []];
  return { ...own, gateway: parts?.gateway, ...mount(server, { services }) };
}

export type { Authenticate, CallerSource, Extension, Handler, McpOptions, ServerOptions };
export { skillsExtension } from "./mcp/skills/skills_extension.ts";
export type { TrivetEvent } from "./events.ts";
export type { Principal } from "./http/principal.ts";
export { prompt, resource, resourceTemplate, tool } from "./mcp/definition/define.ts";
export {
  type Definition,
  type PromptDefinition,
  type ResourceDefinition,
  type ResourceTemplateDefinition,
  type ToolDefinition,
  ToolError,
} from "./mcp/definition/definition.ts";
export type { ToJsonSchema } from "./mcp/schema/schema_converter.ts";
export type { Arrange, ArrangeServer } from "./mcp/definition/definition_source.ts";
export { type Definitions, group, type Middleware } from "./mcp/definition/group.ts";
export type { CallContext } from "./mcp/context.ts";
export type { ContentItem, Meta, ToolResult } from "./mcp/definition/content.ts";
export { MissingCapabilityError, ScopeError } from "./mcp/error.ts";
export { RpcError } from "./jsonrpc/error.ts";
export { app, type AppOptions, showIn } from "./mcp/apps/app.ts";
export { type ServeCard, serverCard, type ServerCardOptions } from "./mcp/cards/server_card.ts";
export { serverJson, type ServerJsonOptions } from "./mcp/cards/server_json.ts";
