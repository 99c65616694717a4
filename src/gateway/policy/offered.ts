/**
 * What a policy decides about: a definition of this server or of an MCP server behind it, and who uses it.
 *
 * @module
 */
import type { Definition } from "../../mcp/definition/definition.ts";
import { parseUriTemplate } from "../../mcp/definition/uri/uri_expression.ts";

/** A definition, with the MCP server that it comes from. */
export type OfferedDefinition = Definition & {
  /** The name of the MCP server; absent for what this server offers itself. */
  readonly upstream?: string;
  /** Differs when another MCP server gets that name. */
  readonly serverDigest?: string;
  /** Its name or URI there. */
  readonly originalName?: string;
  /** Whether the gateway made it for the MCP server, which does not have it. */
  readonly isOwn?: true;
};

/** The name of what is used: of a resource of a template its URI, with the values of the variables as they are. */
export function nameOfUse(definition: OfferedDefinition, name: string, input: unknown): string {
  if (definition.kind !== "resource_template") return name;
  const values = input as Readonly<Record<string, string>>;
  return parseUriTemplate(definition.uriTemplate).map((part) => {
    if (typeof part === "string") return part;
    const { first, separator, named } = part.operator;
    const given = part.variables.filter((variable) => Object.hasOwn(values, variable.name));
    const written = given.map((variable) =>
      `${named ? `${variable.name}=` : ""}${String(values[variable.name])}`
    );
    return written.length === 0 ? "" : first + written.join(separator);
  }).join("");
}
