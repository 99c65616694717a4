/**
 * Code mode: a model writes one JavaScript program that calls many tools, and gets only what the program returns.
 *
 * @module
 */
import { checkNames, type Names } from "../../options/option_check.ts";
import type { CallContext } from "../../mcp/context.ts";
import type { Arrange } from "../../mcp/definition/definition_source.ts";
import { tool } from "../../mcp/definition/define.ts";
import { type Definition, ToolError } from "../../mcp/definition/definition.ts";
import { type CallableTool, CallableTools, splitTools } from "../search/callable_tools.ts";
import type { RankEntries } from "../search/rank.ts";
import { createSearchEntries } from "../search/search_entries.ts";
import { toDeclaration } from "./declarations.ts";
import type { CodeEngine } from "./engine.ts";
import type { RunByName } from "./program_calls.ts";
import { type CodeLimits, runProgram } from "./run_program.ts";

export type { CodeLimits };

/** How {@linkcode codeMode} offers the tools of a server. */
export interface CodeModeOptions {
  /** Runs the programs: `quickJs()` of `trivet/code-mode`. */
  readonly engine: CodeEngine;
  readonly limits?: Partial<CodeLimits>;
  /** @default { run: "run_code", describe: "describe_api" } */
  readonly names?: { readonly run?: string; readonly describe?: string };
  /** Names of tools that clients are offered besides. */
  readonly pinned?: readonly string[];
  /** A sentence for the model on what the tools are about. */
  readonly about?: string;
  /** A second ranking for `describe_api`, as in search mode. */
  readonly rank?: RankEntries;
}

const NAMES: Names<CodeModeOptions> = {
  engine: "object",
  limits: "object",
  names: "object",
  pinned: "string[]",
  about: "string",
  rank: "function",
};
const DEFAULT_LIMITS: CodeLimits = {
  computeMs: 5_000,
  memoryBytes: 32 * 1024 * 1024,
  calls: 100,
  resultBytes: 64 * 1024,
  logBytes: 16 * 1024,
  durationMs: 300_000,
  concurrentCalls: 8,
  callResultBytes: 1024 * 1024,
  sourceCharacters: 64 * 1024,
};
/** The least memory with which QuickJS starts a program. */
const MIN_MEMORY_BYTES = 1024 * 1024;
const DEFAULT_DECLARATIONS = 5;
const MAX_DECLARATIONS = 50;

/**
 * Makes the option `arrange` of the MCP server.
 * @throws {RangeError} for an invalid limit
 */
export function codeMode(options: CodeModeOptions): Arrange {
  checkNames("codeMode", options, NAMES);
  checkNames("codeMode.limits", options.limits ?? {}, DEFAULT_LIMITS);
  const { engine, about = "" } = options;
  const limits = { ...DEFAULT_LIMITS, ...options.limits };
  for (const [name, value] of Object.entries(limits)) {
    const least = name === "memoryBytes" ? MIN_MEMORY_BYTES : 1;
    if (!Number.isSafeInteger(value) || value < least || value > 2 ** 31 - 1) {
      throw new RangeError(
        `Cannot create code mode: limits.${name} must be a whole number of at least ${least}`,
      );
    }
  }
  const names = { run: "run_code", describe: "describe_api", ...options.names };
  const pinned = new Set(options.pinned);

  return (definitions, server) => {
    const { callable, others } = splitTools(definitions, pinned);
    const tools = new CallableTools(callable, server);
    const searchEntries = createSearchEntries(tools, definitions, server, options.rank);
    const callTool: RunByName = (name, input, context) => {
      const found = tools.find(name, context);
      if (!found) throw new ToolError(`Unknown tool: ${name}. Call ${names.describe} to find tools`);
      return tools.call(found, input, context, false);
    };
    return [describeApi(), runCode(), ...others];

    function describeApi(): Definition {
      return tool({
        name: names.describe,
        title: "Describe the API",
        description:
          `Returns TypeScript declarations of functions for ${names.run}: those that fit the query best, ` +
          `or those named.${about && ` ${about.trim()}`}`,
        input: {
          type: "object",
          properties: {
            query: { type: "string", maxLength: 1000, description: "What to do" },
            names: { type: "array", items: { type: "string" }, maxItems: MAX_DECLARATIONS },
            limit: {
              type: "integer",
              minimum: 1,
              maximum: MAX_DECLARATIONS,
              default: DEFAULT_DECLARATIONS,
            },
          },
          additionalProperties: false,
        },
        annotations: { readOnlyHint: true, openWorldHint: false },
        async run({ query, names: wanted = [], limit = DEFAULT_DECLARATIONS }, context) {
          if (query === undefined && wanted.length === 0) throw new ToolError("Pass a query, or names");
          const named = wanted.map((name) => [name, tools.find(name, context)] as const);
          const found = query === undefined ? [] : await searchEntries(query, limit, context);
          const written = new Set(
            [...named.map(([, tool]) => tool), ...found.map(({ tool }) => tool)].filter((tool) => tool)
              .map((tool) => declare(tool!, context)),
          );
          const unknown = named.flatMap(([name, tool]) => tool ? [] : [`// Unknown: ${name.slice(0, 200)}`]);
          const skills = found.flatMap(({ entry: { kind, name } }) =>
            kind === "skill" ? [`// Skill: await tools.load_skill(${JSON.stringify({ name })})`] : []
          );
          const lines = [...written, ...unknown, ...skills];
          return lines.length === 0
            ? "// Nothing was found. Try other words."
            : `declare const tools: {\n${lines.join("\n")}\n};`;
        },
      });
    }

    function declare(
      { definition: { name, description }, compiled }: CallableTool,
      context: CallContext,
    ): string {
      // Clients of older revisions get no structured content of some schemas, and so does a program.
      const { outputSchema } = compiled.describe(context.revision);
      return toDeclaration({ name, description, inputSchema: compiled.input.jsonSchema, outputSchema });
    }

    function runCode(): Definition {
      return tool({
        name: names.run,
        title: "Run a program",
        description:
          `Runs the body of an async JavaScript function and returns its value. It calls functions that ` +
          `${names.describe} declares: const issues = await tools.list_issues({ open: true }); ` +
          `return issues.length. Without an output type a function returns text. It throws ToolError when a tool ` +
          `fails. Use Promise.all for calls at the same time and console.log for notes. There are no modules, timers, ` +
          `files or network.`,
        input: {
          type: "object",
          properties: { code: { type: "string", maxLength: limits.sourceCharacters } },
          required: ["code"],
          additionalProperties: false,
        },
        run: ({ code }, context) => runProgram(code, { engine, limits, callTool }, context),
      });
    }
  };
}
