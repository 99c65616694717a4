/**
 * Search mode: clients are offered three tools that find, describe and call all others, so that hundreds of tools cost a
 * model few tokens.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { Arrange } from "../../mcp/definition/definition_source.ts";
import { tool } from "../../mcp/definition/define.ts";
import { type Definition, ToolError } from "../../mcp/definition/definition.ts";
import { type CallableTool, CallableTools, splitTools } from "./callable_tools.ts";
import type { RankEntries } from "./rank.ts";
import { createSearchEntries, type FoundEntry } from "./search_entries.ts";
import { LOAD_SKILL } from "./skill_entries.ts";
import { toLine } from "./tool_fields.ts";

/** How {@linkcode searchMode} offers the tools of a server. */
export interface SearchModeOptions {
  /** Names of tools that clients are offered besides; they are found and called by the three tools too. */
  readonly pinned?: readonly string[];
  /** @default { search: "search_tools", describe: "describe_tool", call: "call_tool" } */
  readonly names?: { readonly search?: string; readonly describe?: string; readonly call?: string };
  /** A sentence for the model on what the tools are about. */
  readonly about?: string;
  /** A second ranking, by embeddings for example, which is combined with that by words. */
  readonly rank?: RankEntries;
  /** Entries of an answer, unless the model asks for another number. @default 5 */
  readonly limit?: number;
}

const NAMES: Names<SearchModeOptions> = {
  pinned: "string[]",
  names: "object",
  about: "string",
  rank: "function",
  limit: "number",
};
const MAX_QUERY_CHARACTERS = 1000;
export const MAX_LIMIT = 50;

/**
 * Makes the option `arrange` of the MCP server.
 * @throws {RangeError} for an invalid limit
 */
export function searchMode(options: SearchModeOptions = {}): Arrange {
  checkNames("searchMode", options, NAMES);
  const { limit = 5 } = options;
  if (!Number.isSafeInteger(limit) || limit < 1 || limit > MAX_LIMIT) {
    throw new RangeError(`Cannot create search mode: limit must be a whole number from 1 to ${MAX_LIMIT}`);
  }
  const names = { search: "search_tools", describe: "describe_tool", call: "call_tool", ...options.names };
  const pinned = new Set(options.pinned);

  return (definitions, server) => {
    const { callable, others } = splitTools(definitions, pinned);
    const tools = new CallableTools(callable, server);
    const searchEntries = createSearchEntries(tools, definitions, server, options.rank);
    return [searchTool(), describeTool(), callTool(), ...others];

    function searchTool(): Definition {
      return tool({
        name: names.search,
        title: "Search tools",
        description: "Finds tools and skills by words about what to do. " +
          `${
            options.about ? options.about.trim() + " " : ""
          }Then call ${names.describe} for the arguments, ` +
          `and ${names.call} to call the tool. The best come first.`,
        input: {
          type: "object",
          properties: {
            query: { type: "string", maxLength: MAX_QUERY_CHARACTERS },
            limit: { type: "integer", minimum: 1, maximum: MAX_LIMIT, default: limit },
            detail: { type: "boolean", description: "Complete descriptions and input schemas" },
          },
          required: ["query"],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
        async run({ query, limit: wanted = limit, detail = false }, context) {
          const found = await searchEntries(query, wanted, context);
          if (found.length === 0) return "Nothing was found. Try other words.";
          return found.map((each) => detail ? writeDetail(each) : writeEntry(each)).join("\n");
        },
      });
    }

    function describeTool(): Definition {
      return tool({
        name: names.describe,
        title: "Describe a tool",
        description: `Returns description, schemas and annotations of a tool that ${names.search} found.`,
        input: {
          type: "object",
          properties: { name: { type: "string" } },
          required: ["name"],
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
        run({ name }, context) {
          const { icons: _icons, _meta, ...entry } = getTool(name, context).compiled.describe(
            context.revision,
          );
          return entry;
        },
      });
    }

    function callTool(): Definition {
      return tool({
        name: names.call,
        title: "Call a tool",
        description: `Calls a tool that ${names.search} found.`,
        input: {
          type: "object",
          properties: {
            name: { type: "string" },
            arguments: { type: "object", description: `As the schema in ${names.describe} says` },
          },
          required: ["name"],
          additionalProperties: false,
        },
        ...(tools.hasTasks && { task: { support: "optional", start: "by_run" } }),
        run: ({ name, arguments: given = {} }, context) => tools.call(getTool(name, context), given, context),
      });
    }

    /** The same error for a tool that the caller may not call as for one that does not exist. */
    function getTool(name: string, context: Parameters<CallableTools["find"]>[1]): CallableTool {
      const found = tools.find(name, context);
      if (found) return found;
      throw new ToolError(`Unknown tool: ${name.slice(0, 200)}. Call ${names.search} to find tools.`);
    }

    function writeEntry({ entry: { kind, name, description } }: FoundEntry): string {
      const line = toLine(description);
      if (kind === "tool") return line === "" ? name : `${name}: ${line}`;
      const given = JSON.stringify({ name });
      const how = pinned.has(LOAD_SKILL)
        ? `${LOAD_SKILL} with ${given}`
        : `${names.call} with ${JSON.stringify({ name: LOAD_SKILL, arguments: { name } })}`;
      return `skill ${name}: ${line} (read it by ${how})`;
    }

    function writeDetail(found: FoundEntry): string {
      const { entry, tool } = found;
      if (!tool) return writeEntry(found);
      const { name, description } = entry;
      return `${name}: ${description.trim()}\n${JSON.stringify(tool.inputSchema)}\n`;
    }
  };
}
