/**
 * Parses the JSON text of messages that are not small, after checks of their depth and the number of their values.
 *
 * @module
 */
import { findExcess } from "../http/body/json_text.ts";
import { LARGE_TEXT_CHARACTERS, MAX_JSON_DEPTH } from "../http/body/small_json.ts";
import { nextTurn } from "../http/next_turn.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "./error.ts";
import { parseSmallJson } from "./message.ts";

/**
 * The JSON value of a message or batch.
 * @throws {RpcError} -32700 for invalid JSON or more than 512 levels of nesting; -32600 for too many values
 */
export function parseJson(text: string): unknown {
  refuseExcess(text);
  return parseSmallJson(text);
}

/** As {@linkcode parseJson}. Yields the event loop between the steps of a large text. */
export async function parseLargeJson(text: string): Promise<unknown> {
  if (text.length <= LARGE_TEXT_CHARACTERS) return parseJson(text);
  await nextTurn();
  refuseExcess(text);
  await nextTurn();
  const value = parseSmallJson(text);
  await nextTurn();
  return value;
}

function refuseExcess(text: string): void {
  const excess = findExcess(text);
  if (excess === "depth") {
    throw new RpcError(PARSE_ERROR, `Parse error: too deeply nested. Maximum: ${MAX_JSON_DEPTH} levels`);
  }
  if (excess) throw new RpcError(INVALID_REQUEST, "Invalid Request: too many JSON values in one message");
}
