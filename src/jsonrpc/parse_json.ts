/**
 * Parses the JSON text of a message at once, whatever its size, for transports that read one message after the other.
 *
 * @module
 */
import { checkJson } from "./json_limits.ts";
import { parseSmallJson } from "./message.ts";

/**
 * The JSON value of a message or batch.
 * @throws {RpcError} -32700 for invalid JSON or more than 512 levels of nesting; -32600 for too many values
 */
export function parseJson(text: string): unknown {
  checkJson(text);
  return parseSmallJson(text);
}
