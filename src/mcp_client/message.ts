/**
 * Reads the JSON of a server.
 *
 * @module
 */
import { parseJson } from "../jsonrpc/parse_json.ts";
import { ConnectionError } from "./error.ts";
import type { JsonObject } from "./limits.ts";

/** Whether a value is a JSON object. */
export function isObject(value: unknown): value is JsonObject {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** Messages of a batch (2025-03-26) that are read. */
const MAX_BATCH_MESSAGES = 1000;

/**
 * The messages in a text: one, or those of a batch (2025-03-26). What is not a JSON-RPC 2.0 message is left out.
 * @throws {ConnectionError} for invalid JSON, and for JSON that is nested too deeply or has too many values
 */
export function parseMessages(text: string, server: string): readonly JsonObject[] {
  let value: unknown;
  try {
    value = parseJson(text);
  } catch (cause) {
    const reason = `sent an invalid message: ${(cause as Error).message}`;
    throw new ConnectionError("malformed", server, reason, { cause });
  }
  if (isMessage(value)) return [value];
  return Array.isArray(value) ? value.slice(0, MAX_BATCH_MESSAGES).filter(isMessage) : [];
}

function isMessage(value: unknown): value is JsonObject {
  return isObject(value) && value.jsonrpc === "2.0";
}

/** Whether a message is the response to the request with this id. Ids are compared with their type. */
export function isResponseTo(message: JsonObject, id: number): boolean {
  return message.id === id && message.method === undefined;
}
