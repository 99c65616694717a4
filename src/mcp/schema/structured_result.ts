/**
 * The result of a tool with an output schema. Loads with the first one.
 *
 * @module
 */
import { toJson } from "../../jsonrpc/to_json.ts";
import type { ToolResult } from "../definition/content.ts";
import type { CompiledSchema } from "./standard_schema.ts";
import { isToolResult } from "../definition/tool_result.ts";

/**
 * The result of a tool with an output schema. The returned value is data, unless it is a complete result with
 * structured content or `isError: true`.
 * @throws {TypeError} when the data does not match the schema, which MCP requires, or has no JSON representation
 */
export async function toStructuredResult(output: CompiledSchema, value: unknown): Promise<ToolResult> {
  const full = isToolResult(value) && (value.isError || "structuredContent" in value) ? value : undefined;
  if (full?.isError) return full;
  const parsed = await output.parse(full ? full.structuredContent : value);
  if ("problems" in parsed) {
    throw new TypeError(`The result does not match the output schema: ${parsed.problems.join("; ")}`);
  }
  const text = toJson(parsed.value);
  if (text === undefined) {
    throw new TypeError("The tool has an output schema, but its result has no JSON representation");
  }
  return { ...full, content: full?.content ?? [{ type: "text", text }], structuredContent: parsed.value };
}
