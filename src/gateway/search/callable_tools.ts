/**
 * Tools that are called by another tool: found by name, for a caller who may call them, and run as `tools/call` runs them.
 *
 * @module
 */
import { isForModel } from "../../mcp/apps/app.ts";
import type { CallContext } from "../../mcp/context.ts";
import type { ArrangeServer } from "../../mcp/definition/definition_source.ts";
import type { ToolResult } from "../../mcp/definition/content.ts";
import type { Definition, ToolDefinition } from "../../mcp/definition/definition.ts";
import { type CompiledTool, compileRegistry } from "../../mcp/definition/registry.ts";
import { runTool, type ToolRun } from "../../mcp/definition/tools.ts";
import { MODERN } from "../../mcp/era.ts";
import { MissingCapabilityError, ScopeError } from "../../mcp/error.ts";
import { requiredCapabilities } from "../../mcp/input/client_feature.ts";
import type { DescribedTool } from "./tool_fields.ts";

export interface CallableTool extends DescribedTool {
  readonly compiled: CompiledTool;
  readonly definition: ToolDefinition;
}

/**
 * The tools that the model finds and calls, and what clients are offered besides: other definitions, pinned tools, and tools
 * for an app alone, which their app calls.
 */
export function splitTools(
  definitions: readonly Definition[],
  pinned: ReadonlySet<string>,
): { readonly callable: readonly ToolDefinition[]; readonly others: readonly Definition[] } {
  const callable = definitions.filter((each) => each.kind === "tool").filter(({ _meta }) =>
    isForModel(_meta)
  );
  const found = new Set<Definition>(callable);
  return { callable, others: definitions.filter((each) => !found.has(each) || pinned.has(each.name)) };
}

export class CallableTools {
  readonly list: readonly CallableTool[];
  readonly hasTasks: boolean;
  readonly #byName: ReadonlyMap<string, CallableTool>;
  readonly #server: ArrangeServer;

  /** @throws {TypeError} naming an invalid definition */
  constructor(definitions: readonly ToolDefinition[], server: ArrangeServer) {
    const { tools, hasTasks } = compileRegistry(definitions, server.convert);
    this.list = definitions.map((definition) => {
      const compiled = tools.get(definition.name)!;
      const { name, title, description } = definition;
      return { name, title, description, inputSchema: compiled.input.jsonSchema, compiled, definition };
    });
    this.#byName = new Map(this.list.map((tool) => [tool.name, tool]));
    this.#server = server;
    this.hasTasks = hasTasks;
  }

  /** The tool of this name, if the caller may call it. */
  find(name: string, context: CallContext): CallableTool | undefined {
    const tool = this.#byName.get(name);
    return tool && scopeCheck(context)(tool.compiled.scopes) ? tool : undefined;
  }

  /**
   * Runs the tool as if the client had called it. The context is that of the call, or one that is made of it.
   * @param mayBeTask `false` where the result is needed: then the call becomes no task
   * @throws what `tools/call` answers with an error, and when the call is suspended for input of the client
   */
  async call(
    { compiled: tool }: CallableTool,
    given: Readonly<Record<string, unknown>>,
    context: CallContext,
    mayBeTask = true,
  ): Promise<ToolResult> {
    const isModern = mayBeTask && context.revision >= MODERN;
    if (isModern && tool.task?.support === "required" && !context.can("tasks")) {
      throw new MissingCapabilityError(requiredCapabilities("tasks"));
    }
    const parsed = await tool.input.parse(given);
    if ("problems" in parsed) {
      const text = `Invalid arguments: ${parsed.problems.join("; ")}`;
      return { content: [{ type: "text", text }], isError: true };
    }
    if (isModern && tool.task && tool.task.start !== "by_run") await context.startTask(tool.task);
    // The server passes its own implementation of the context to every handler.
    return await runTool(tool, parsed.value, context as ToolRun, this.#server.observe);
  }
}

/** Whether the caller has all the scopes of a definition. Lists of scopes that many definitions share are checked once. */
export function scopeCheck(context: CallContext): (scopes: readonly string[]) => boolean {
  const known = new Map<string, boolean>();
  return (scopes) => {
    if (scopes.length === 0) return true;
    const key = scopes.join(" ");
    let holds = known.get(key);
    if (holds === undefined) known.set(key, holds = hasScopes(context, scopes));
    return holds;
  };
}

function hasScopes(context: CallContext, scopes: readonly string[]): boolean {
  try {
    context.requireScopes(...scopes);
    return true;
  } catch (error) {
    if (error instanceof ScopeError) return false;
    throw error;
  }
}
