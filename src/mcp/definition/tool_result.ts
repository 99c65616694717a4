/**
 * From what a tool returned to a result (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result):
 * a result in full, content items, or data, which becomes text, and structured content where there is an output schema.
 *
 * @module
 */
import type { ContentItem, ToolResult } from "./content.ts";
import type { CompiledSchema } from "../schema/standard_schema.ts";

/** The result of a tool without an output schema. */
export function toResult(value: unknown): ToolResult {
  if (isToolResult(value)) return value;
  if (Array.isArray(value) && value.length > 0 && value.every(isContentItem)) return { content: value };
  if (isContentItem(value)) return { content: [value] };
  return {
    content: [{ type: "text", text: typeof value === "string" ? value : JSON.stringify(value) ?? "" }],
  };
}

/**
 * The result of a tool with an output schema. What it returned is data, unless it is a result in full that has
 * structured content or says that the tool failed.
 * @throws {TypeError} when it does not fit the schema, or JSON has nothing for it: MCP requires results that fit
 */
export async function toStructuredResult(output: CompiledSchema, value: unknown): Promise<ToolResult> {
  const full = isToolResult(value) && (value.isError || "structuredContent" in value) ? value : undefined;
  if (full?.isError) return full;
  const parsed = await output.parse(full ? full.structuredContent : value);
  if ("problems" in parsed) {
    throw new TypeError(`The result does not match the output schema: ${parsed.problems.join("; ")}`);
  }
  const text = JSON.stringify(parsed.value);
  if (text === undefined) {
    throw new TypeError("The tool has an output schema, but its result has no JSON representation");
  }
  return { ...full, content: full?.content ?? [{ type: "text", text }], structuredContent: parsed.value };
}

const MEMBERS: ReadonlySet<string> = new Set([
  "content",
  "structuredContent",
  "isError",
  "_meta",
  "resultType",
]);

/** Data may have a member `content` too: a result has content items in it, and no member that results do not have. */
function isToolResult(value: unknown): value is ToolResult {
  if (!isObject(value) || !Array.isArray(value.content) || !value.content.every(isContentItem)) return false;
  const { isError, _meta, resultType = "complete" } = value;
  return resultType === "complete" && Object.keys(value).every((name) => MEMBERS.has(name)) &&
    (isError === undefined || typeof isError === "boolean") && (_meta === undefined || isObject(_meta));
}

/** Whether it is an item of one of the types, with the members that its type must have. */
function isContentItem(value: unknown): value is ContentItem {
  if (!isObject(value)) return false;
  switch (value.type) {
    case "text":
      return typeof value.text === "string";
    case "image":
    case "audio":
      return typeof value.data === "string" && typeof value.mimeType === "string";
    case "resource":
      return isObject(value.resource) && typeof value.resource.uri === "string";
    case "resource_link":
      return typeof value.uri === "string" && typeof value.name === "string";
    default:
      return false;
  }
}

function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
