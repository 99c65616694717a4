/**
 * `resources/list`, `resources/read` and `resources/templates/list`
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/resources).
 *
 * @module
 */
import type { Method } from "../jsonrpc/dispatch.ts";
import { WrittenResult } from "../jsonrpc/message.ts";
import type { CallContext, ReadResult, ResourceContents } from "./definition.ts";
import { RESOURCE_NOT_FOUND, UnknownNameError } from "./error.ts";
import { refuseCursor, requireObject, requireString } from "./params.ts";
import type { Registry } from "./registry.ts";

/** The methods of the resources capability. */
export function resourceMethods(
  { resources, resourceEntries, templates }: Registry,
): [string, Method<CallContext>][] {
  if (resources.size + templates.length === 0) return [];
  const templatesList = new WrittenResult(
    `{"resourceTemplates":[${templates.map((each) => each.entry).join(",")}]}`,
  );

  const list: Method<CallContext> = async (params, context) => {
    refuseCursor(params);
    const listed = await Promise.all(templates.map(({ definition }) => definition.list?.(context) ?? []));
    const entries = [...resourceEntries, ...listed.flat().map((each) => JSON.stringify(each))];
    return new WrittenResult(`{"resources":[${entries.join(",")}]}`);
  };

  const read: Method<CallContext> = async (params, context) => {
    const uri = requireString(requireObject(params), "uri");
    const resource = resources.get(uri);
    if (resource) return { contents: [toContents(uri, resource.mimeType, await resource.read(context))] };
    for (const { definition, match } of templates) {
      const variables = match(uri);
      const found = variables && await definition.read(variables, context);
      if (found !== undefined) return { contents: [toContents(uri, definition.mimeType, found)] };
    }
    const message = `Resource not found: ${uri.slice(0, 500)}`;
    throw new UnknownNameError(message, RESOURCE_NOT_FOUND, { uri: uri.slice(0, 500) });
  };

  return [["resources/list", list], ["resources/read", read], ["resources/templates/list", (params) => {
    refuseCursor(params);
    return templatesList;
  }]];
}

/** Contents of a resource: text as it is, bytes as base64. */
export function toContents(uri: string, declared: string | undefined, result: ReadResult): ResourceContents {
  const { content, mimeType } = typeof result === "string" || result instanceof Uint8Array
    ? { content: result, mimeType: declared }
    : result;
  const head = { uri, ...(mimeType !== undefined && { mimeType }) };
  return typeof content === "string" ? { ...head, text: content } : { ...head, blob: encodeBase64(content) };
}

const CHUNK = 0x6000;

/** base64 with padding, as MCP has its bytes; in pieces, because a call takes only so many arguments. */
function encodeBase64(bytes: Uint8Array): string {
  let text = "";
  for (let at = 0; at < bytes.length; at += CHUNK) {
    text += btoa(String.fromCharCode(...bytes.subarray(at, at + CHUNK)));
  }
  return text;
}
