/**
 * Results of an upstream as clients get them: URIs of its resources are mapped, and what belongs to the connection with the
 * upstream is removed. The rest passes unchanged.
 *
 * @module
 */
import { isObject } from "../../../json_schema/value.ts";
import { PASSED } from "../../../mcp/definition/tool_result.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";
import { UpstreamFailure } from "../failure.ts";
import type { UriMap } from "../uris.ts";

/** Members of `_meta` that belong to the connection: the identity of the server, and a task of 2025-11-25. */
const CONNECTION_MEMBERS = ["io.modelcontextprotocol/serverInfo", "io.modelcontextprotocol/related-task"];

/** The result of `tools/call`. The object is changed in place: it was just received. @throws {UpstreamFailure} */
export function toToolResult(result: JsonObject, uris: UriMap): JsonObject {
  removeConnectionMembers(result);
  const { content, isError } = result;
  if (isError !== undefined && typeof isError !== "boolean") throw invalidContent();
  if (Array.isArray(content)) { for (const item of content) mapContent(item, uris); }
  else if (content === undefined && result.structuredContent !== undefined) {
    result.content = [{ type: "text", text: JSON.stringify(result.structuredContent) }];
  } else throw new UpstreamFailure("sent a result without content. Report this to its operator.");
  (result as Record<symbol, unknown>)[PASSED] = true;
  return result;
}

/** The result of `resources/read`. @throws {UpstreamFailure} */
export function toReadResult(result: JsonObject, uris: UriMap): JsonObject {
  removeConnectionMembers(result);
  if (!Array.isArray(result.contents)) {
    throw new UpstreamFailure("sent a result without contents. Report this to its operator.");
  }
  for (const each of result.contents) {
    if (!isObject(each) || typeof each.uri !== "string") throw invalidContent();
    if (typeof (each.text ?? each.blob) !== "string") throw invalidContent();
    mapUri(each, uris);
  }
  return result;
}

/** The result of `prompts/get`. @throws {UpstreamFailure} */
export function toPromptResult(result: JsonObject, uris: UriMap): JsonObject {
  removeConnectionMembers(result);
  const { messages } = result;
  if (!Array.isArray(messages) || !messages.every((each) => isObject(each) && isObject(each.content))) {
    throw new UpstreamFailure("sent a result without messages. Report this to its operator.");
  }
  for (const { role, content } of messages) {
    if (role !== "user" && role !== "assistant") throw invalidContent();
    mapContent(content, uris);
  }
  return result;
}

/** The `_meta` of a tool: MCP Apps name a resource in it. */
export function toToolMeta(meta: JsonObject, uris: UriMap): JsonObject {
  const mapped = { ...meta };
  const { ui } = meta;
  if (isObject(ui) && typeof ui.resourceUri === "string") {
    mapped.ui = { ...ui, resourceUri: uris.toPublic(ui.resourceUri) };
  }
  const flat = meta["ui/resourceUri"];
  if (typeof flat === "string") mapped["ui/resourceUri"] = uris.toPublic(flat);
  return mapped;
}

/** @throws {UpstreamFailure} for what is no content: a client might refuse the response without naming the upstream */
function mapContent(item: unknown, uris: UriMap): void {
  if (!isObject(item) || typeof item.type !== "string") throw invalidContent();
  if (item.type === "text" && typeof item.text !== "string") throw invalidContent();
  if (item.type === "resource_link") mapUri(item, uris);
  else if (item.type === "resource") mapUri(item.resource, uris);
}

function invalidContent(): UpstreamFailure {
  return new UpstreamFailure("sent a result with invalid content. Report this to its operator.");
}

function mapUri(value: unknown, uris: UriMap): void {
  if (isObject(value) && typeof value.uri === "string") value.uri = uris.toPublic(value.uri);
}

/** Removes what a revision adds to each result: the gateway adds its own. */
function removeConnectionMembers(result: JsonObject): void {
  const { _meta } = result;
  if (result.resultType !== undefined) delete result.resultType;
  if (_meta === undefined) return;
  if (isObject(_meta)) { for (const member of CONNECTION_MEMBERS) delete _meta[member]; }
  if (!isObject(_meta) || Object.keys(_meta).length === 0) delete result._meta;
}
