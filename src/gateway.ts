/**
 * `trivet/gateway`: other MCP servers behind this one, with permission per person and per tool; many tools behind one
 * address.
 *
 * @module
 */
export { gateway, type GatewayOptions } from "./gateway/gateway.ts";
export type { Gateway, GatewayHost, GatewayOption, GatewayParts } from "./gateway/option.ts";
export {
  ConfigurationError,
  type McpServer,
  type McpServers,
  type ProcessConfiguration,
  type UpstreamOptions,
  type UrlConfiguration,
} from "./gateway/upstream/configuration/configuration.ts";
export type {
  UpstreamCounts,
  UpstreamState,
  UpstreamStatus,
} from "./gateway/upstream/upstream_definition.ts";
export { findMcpServers } from "./gateway/upstream/configuration/parse_configuration.ts";
export type { StoredUpstreams } from "./gateway/stored/stored_upstreams.ts";
export type { UpstreamAuth } from "./gateway/credentials/upstream_auth.ts";
export type { PolicyOptions } from "./gateway/policy/policy_options.ts";
export type { HoldingOptions } from "./gateway/policy/held/holding.ts";
export { searchMode, type SearchModeOptions } from "./gateway/search/search_mode.ts";
export type { RankEntries, SearchEntry } from "./gateway/search/rank.ts";
export type { Arrange, ArrangeServer } from "./mcp/definition/definition_source.ts";
export { type CodeLimits, codeMode, type CodeModeOptions } from "./gateway/code/code_mode.ts";
export type {
  CodeEngine,
  EngineLimits,
  FailureReason,
  Outcome,
  Program,
  ProgramHost,
  ProgramRequest,
} from "./gateway/code/engine.ts";
