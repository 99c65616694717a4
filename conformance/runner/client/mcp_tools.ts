/**
 * The tools of the MCP servers of the scenarios, and the methods that every revision has.
 *
 * @module
 */
import { isJsonObject, type JsonObject } from "../vector/vector_file.ts";

const TEXT = { type: "object", properties: { text: { type: "string" } }, required: ["text"] };
const TOOLS = [
  { name: "echo", description: "Returns the text", inputSchema: TEXT },
  {
    name: "measure",
    description: "Returns a number",
    inputSchema: { type: "object" },
    outputSchema: { type: "object", properties: { value: { type: "number" } }, required: ["value"] },
  },
  { name: "wait", description: "Never ends", inputSchema: { type: "object" } },
];

/** The result of a method; `undefined` for an unknown one. */
export function callMethod(method: string, { params }: JsonObject): JsonObject | undefined {
  if (method === "ping") return {};
  if (method === "tools/list") return { tools: TOOLS };
  if (method !== "tools/call" || !isJsonObject(params)) return undefined;
  if (params["name"] === "measure") {
    const value = { value: 3 };
    return { content: [{ type: "text", text: JSON.stringify(value) }], structuredContent: value };
  }
  const sent = params["arguments"];
  const text = isJsonObject(sent) ? String(sent["text"]) : "";
  return { content: [{ type: "text", text }] };
}
