/**
 * Writes the messages that a server sends beside its response to a request. Loads with the first of them.
 *
 * @module
 */
import { type Id, type Response, writeResponse } from "./message.ts";
import { toJson } from "./to_json.ts";

/** The JSON text of a request of the server. */
export function writeRequest(id: Id, method: string, params?: unknown): string {
  return toJson({ jsonrpc: "2.0", id, method, params })!;
}

/** The JSON text of a notification of the server. */
export function writeNotification(method: string, params?: Readonly<Record<string, unknown>>): string {
  return toJson({ jsonrpc: "2.0", method, params })!;
}

/** The JSON text of the responses to a batch. */
export function writeResponses(responses: readonly Response[]): string {
  return `[${responses.map(writeResponse).join(",")}]`;
}
