/**
 * `trivet/gateway`: many tools behind one address.
 *
 * @module
 */
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
