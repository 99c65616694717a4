/**
 * Tool arguments that clients repeat in header fields, for proxies that route by them: `x-mcp-header` in a tool's schema
 * (https://modelcontextprotocol.io/specification/draft/basic/transports/streamable-http#custom-headers-from-tool-parameters).
 *
 * @module
 */
import { cannotDefine } from "../error.ts";

export interface HeaderParameter {
  /** `mcp-param-` and the name, in lower case. */
  readonly field: string;
  /** The names of the properties that lead to the value. */
  readonly path: readonly string[];
  readonly type: "string" | "integer" | "boolean";
}

type Schema = Readonly<Record<string, unknown>>;

const KEYWORD = "x-mcp-header";
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;

/**
 * Finds the parameters of a schema.
 * @throws {TypeError} for an invalid name, type or position of the keyword: clients would reject the tool
 */
export function headerParameters(schema: unknown, tool: string): HeaderParameter[] {
  const found = new Map<string, HeaderParameter>();
  const refuse = (reason: string): never => {
    throw cannotDefine(tool, `${KEYWORD} ${reason}`);
  };

  const walk = (node: unknown, path: readonly string[], reachable: boolean): void => {
    if (typeof node !== "object" || node === null) return;
    if (Array.isArray(node)) return node.forEach((each) => walk(each, path, false));
    const { [KEYWORD]: name, type, properties, ...rest } = node as Schema;
    if (name !== undefined) {
      if (!reachable || path.length === 0) {
        refuse('is only allowed on a property reached through "properties" alone');
      }
      if (typeof name !== "string" || !TOKEN.test(name)) {
        refuse(`of "${path.join(".")}" must be a token (RFC 9110)`);
      }
      if (type !== "string" && type !== "integer" && type !== "boolean") {
        refuse(`of "${path.join(".")}" must be on a property of type string, integer or boolean`);
      }
      const field = "mcp-param-" + (name as string).toLowerCase();
      if (found.has(field)) refuse(`"${name}" is used twice`);
      found.set(field, { field, path, type: type as HeaderParameter["type"] });
    }
    if (typeof properties === "object" && properties !== null) {
      for (const [key, each] of Object.entries(properties)) walk(each, [...path, key], reachable);
    }
    for (const [keyword, each] of Object.entries(rest)) {
      // The values of these keywords are data, not schemas.
      if (keyword !== "const" && keyword !== "enum" && keyword !== "default" && keyword !== "examples") {
        walk(each, path, false);
      }
    }
  };
  walk(schema, [], true);
  return [...found.values()];
}
