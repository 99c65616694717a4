/**
 * What a policy decides about: a definition of this server or of an MCP server behind it, and who uses it.
 *
 * @module
 */
import type { Definition } from "../../mcp/definition/definition.ts";

/** A definition, with the MCP server that it comes from. */
export type OfferedDefinition = Definition & {
  /** The name of the MCP server; absent for what this server offers itself. */
  readonly upstream?: string;
  /** Its name or URI there. */
  readonly originalName?: string;
};
