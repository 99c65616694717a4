/**
 * Makes a `CallToolResult` of what a tool returned (https://modelcontextprotocol.io/specification/2025-11-25/server/tools#tool-result):
 * a complete result, content items, or data, which is sent as text and, with an output schema, as structured content.
 *
 * @module
 */
import { toJson } from "../../jsonrpc/to_json.ts";
import { isObject } from "../../json_schema/value.ts";
import type { ContentItem, ToolResult } from "./content.ts";

/** Marks the result of another MCP server, which is passed on as it is. */
export const PASSED: unique symbol = Symbol.for("trivet.passed");

export function isPassed(value: unknown): value is ToolResult {
  return isObject(value) && PASSED in value;
}

/** The result of a tool without an output schema. */
export function toResult(value: unknown): ToolResult {
  if (isPassed(value) || isToolResult(value)) return value;
  if (Array.isArray(value) && value.length > 0 && value.every(isContentItem)) return { content: value };
  if (isContentItem(value)) return { content: [value] };
  return {
    content: [{ type: "text", text: typeof value === "string" ? value : toJson(value) ?? "" }],
  };
}

const RESULT_MEMBERS: ReadonlySet<string> = new Set([
  "content",
  "structuredContent",
  "isError",
  "_meta",
  "resultType",
]);

/** Data may have a member `content` too: only a result has content items in it and no unknown members. */
export function isToolResult(value: unknown): value is ToolResult {
  if (!isObject(value) || !Array.isArray(value.content) || !value.content.every(isContentItem)) return false;
  const { isError, _meta, resultType = "complete" } = value;
  return resultType === "complete" && Object.keys(value).every((name) => RESULT_MEMBERS.has(name)) &&
    (isError === undefined || typeof isError === "boolean") && (_meta === undefined || isObject(_meta));
}

/** Whether the value has a known type of content and the required members of this type. */
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
