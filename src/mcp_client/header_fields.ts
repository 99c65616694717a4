/**
 * Header fields that repeat parts of a request of 2026-07-28, for proxies that route by them
 * (https://modelcontextprotocol.io/specification/draft/basic/transports/streamable-http#standard-request-headers).
 *
 * @module
 */
import type { ConnectionInfo } from "./client.ts";
import { McpError } from "./error.ts";
import type { JsonObject } from "./limits.ts";
import { isObject } from "./message.ts";
import { HEADER_MISMATCH, MODERN } from "./revision.ts";

/** The parameter that `Mcp-Name` repeats, by method. */
const NAME_PARAMETERS = new Map([
  ["tools/call", "name"],
  ["prompts/get", "name"],
  ["resources/read", "uri"],
  ["tasks/get", "taskId"],
  ["tasks/update", "taskId"],
  ["tasks/cancel", "taskId"],
]);

/** An argument that a tool marks with `x-mcp-header`. */
export interface MarkedArgument {
  readonly field: string;
  readonly path: readonly string[];
}

/** The fields for a request. `marked` are the marked arguments of the tool that it calls. */
export function headerFields(
  method: string,
  params: Readonly<JsonObject>,
  marked: readonly MarkedArgument[] | undefined,
): Record<string, string> {
  const fields: Record<string, string> = { "mcp-method": method };
  const member = NAME_PARAMETERS.get(method);
  const name = member === undefined ? undefined : params[member];
  if (typeof name === "string") fields["mcp-name"] = encodeHeaderValue(name);
  for (const { field, path } of marked ?? []) {
    let value: unknown = params.arguments;
    for (const key of path) value = isObject(value) && Object.hasOwn(value, key) ? value[key] : undefined;
    if (typeof value === "string" || typeof value === "boolean" || Number.isSafeInteger(value)) {
      fields[field] = encodeHeaderValue(String(value));
    }
  }
  return fields;
}

/** Whether a server of 2026-07-28 misses header fields: the tools may have changed since they were listed. */
export function isHeaderMismatch(error: unknown, method: string, info: ConnectionInfo): boolean {
  return error instanceof McpError && error.code === HEADER_MISMATCH && method === "tools/call" &&
    info.revision === MODERN && info.transport === "http";
}

const encoder = new TextEncoder();

/** A value as it is, or as base64 of UTF-8 where a field could not hold it or it looks encoded. */
export function encodeHeaderValue(value: string): string {
  const isPlain = /^[\t\x20-\x7e]*$/.test(value) && value.trim() === value &&
    !(value.startsWith("=?base64?") && value.endsWith("?="));
  if (isPlain) return value;
  let binary = "";
  for (const byte of encoder.encode(value)) binary += String.fromCharCode(byte);
  return `=?base64?${btoa(binary)}?=`;
}

const KEYWORD = "x-mcp-header";
/** RFC 9110 section 5.6.2. */
const TOKEN = /^[!#$%&'*+\-.^_`|~0-9A-Za-z]+$/;
/** Keywords whose values are data, not schemas. */
const DATA = ["const", "enum", "default", "examples"];

/** The marked arguments of a tool; `undefined` if a mark is invalid, so that the tool must not be used. */
export function findMarkedArguments(inputSchema: unknown): MarkedArgument[] | undefined {
  const found = new Map<string, MarkedArgument>();
  const walk = (node: unknown, path: readonly string[], isReachable: boolean): boolean => {
    if (Array.isArray(node)) return node.every((each) => walk(each, path, false));
    if (!isObject(node)) return true;
    const { [KEYWORD]: name, type, properties, ...rest } = node;
    if (name !== undefined) {
      const field = typeof name === "string" ? `mcp-param-${name.toLowerCase()}` : "";
      const isValid = isReachable && path.length > 0 && typeof name === "string" && TOKEN.test(name) &&
        (type === "string" || type === "integer" || type === "boolean") &&
        !found.has(field);
      if (!isValid) return false;
      found.set(field, { field, path });
    }
    if (isObject(properties)) {
      for (const [key, each] of Object.entries(properties)) {
        // A property may be named as the keyword: its value is then a schema.
        if (!walk(each, [...path, key], isReachable)) return false;
      }
    }
    return Object.entries(rest).every(([keyword, each]) => DATA.includes(keyword) || walk(each, path, false));
  };
  return walk(inputSchema, [], true) ? [...found.values()] : undefined;
}
