/**
 * `tools/list` and `tools/call` (https://modelcontextprotocol.io/specification/2025-11-25/server/tools).
 *
 * @module
 */
import type { Observe } from "../events.ts";
import type { Principal } from "../http/bearer.ts";
import type { Method } from "../jsonrpc/dispatch.ts";
import { WrittenResult } from "../jsonrpc/message.ts";
import { StoreUnavailableError } from "../store/store.ts";
import { type CallContext, ToolError, type ToolResult } from "./definition.ts";
import { ScopeError, UnknownNameError } from "./error.ts";
import { optionalObject, refuseCursor, requireObject, requireString } from "./params.ts";
import type { CompiledTool, Registry } from "./registry.ts";
import type { ParseResult } from "./standard_schema.ts";

/** The methods of the tools capability. */
export function toolMethods(registry: Registry, observe: Observe): [string, Method<CallContext>][] {
  const { tools } = registry;
  const forAnonymous = new WrittenResult(registry.toolsForAnonymous);
  const forAll = new WrittenResult(registry.toolsForAll);
  const asked = new Set([...tools.values()].flatMap((tool) => tool.scopes));

  const list: Method<CallContext> = (params, { principal }) => {
    refuseCursor(params);
    if (!principal) return forAnonymous;
    if ([...asked].every((scope) => holds(principal, scope))) return forAll;
    const visible = [...tools.values()].filter((tool) =>
      tool.scopes.every((scope) => holds(principal, scope))
    );
    return new WrittenResult(`{"tools":[${visible.map((tool) => tool.entry).join(",")}]}`);
  };

  const call: Method<CallContext> = (params, context) => {
    const object = requireObject(params);
    const name = requireString(object, "name");
    const tool = tools.get(name);
    if (!tool) throw new UnknownNameError(`Unknown tool: ${name.slice(0, 200)}`);
    if (tool.scopes.length > 0 && !tool.scopes.every((scope) => holds(context.principal, scope))) {
      throw new ScopeError(tool.scopes);
    }
    const input = optionalObject(object, "arguments");
    return tool.input ? parseAndRun(tool, input, context, observe) : run(tool, input, context, observe);
  };

  return tools.size > 0 ? [["tools/list", list], ["tools/call", call]] : [];
}

/** `admin` stands for everything; `skills:write` for reading too. */
function holds(principal: Principal | undefined, scope: string): boolean {
  if (!principal) return false;
  const { scopes } = principal;
  return scopes.has(scope) || scopes.has("admin") || scope === "skills:read" && scopes.has("skills:write");
}

function parseAndRun(
  tool: CompiledTool,
  input: unknown,
  context: CallContext,
  observe: Observe,
): unknown {
  const next = (parsed: ParseResult): unknown => {
    // MCP 2025-11-25, tools: what the model can mend is a result that it sees, not a protocol error.
    if ("problems" in parsed) return failure(`The arguments do not fit: ${parsed.problems.join("; ")}`);
    return run(tool, parsed.value, context, observe);
  };
  const parsed = tool.input!.parse(input);
  return parsed instanceof Promise ? parsed.then(next) : next(parsed);
}

async function run(
  tool: CompiledTool,
  input: unknown,
  context: CallContext,
  observe: Observe,
): Promise<ToolResult> {
  const principal = context.principal?.subject ?? context.principal?.client;
  try {
    const result = await toResult(tool, await tool.run(input, context));
    observe({ type: "tool_called", name: tool.name, principal, failed: result.isError === true });
    return result;
  } catch (error) {
    observe({ type: "tool_called", name: tool.name, principal, failed: true });
    if (error instanceof ToolError) return failure(error.message);
    if (error instanceof StoreUnavailableError) throw error;
    observe({ type: "fault", where: `tool ${tool.name}`, error });
    return failure("The tool failed. The failure was reported to the server's operator.");
  }
}

async function toResult({ output }: CompiledTool, value: unknown): Promise<ToolResult> {
  if (isToolResult(value)) return value;
  if (!output) {
    return {
      content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) ?? "" }],
    };
  }
  const parsed = await output.parse(value);
  // MCP: a server with an output schema must give results that fit it; one that does not is our fault.
  if ("problems" in parsed) {
    throw new TypeError(`The result does not fit the output schema: ${parsed.problems.join("; ")}`);
  }
  return { content: [{ type: "text", text: JSON.stringify(parsed.value) }], structuredContent: parsed.value };
}

function isToolResult(value: unknown): value is ToolResult {
  return typeof value === "object" && value !== null && "content" in value && Array.isArray(value.content);
}

function failure(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
