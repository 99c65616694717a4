/**
 * Checks the JSON text of a message that is not small before it is parsed: its depth, and the number of its values.
 *
 * @module
 */
import { findExcess } from "../http/body/json_text.ts";
import { LARGE_TEXT_CHARACTERS, MAX_JSON_DEPTH } from "../http/body/small_json.ts";
import { nextTurn } from "../http/next_turn.ts";
import { INVALID_REQUEST, PARSE_ERROR, RpcError } from "./error.ts";

/** @throws {RpcError} -32700 for more than 512 levels of nesting; -32600 for too many values */
export function checkJson(text: string): void {
  const excess = findExcess(text);
  if (excess === "depth") {
    throw new RpcError(PARSE_ERROR, `Parse error: too deeply nested. Maximum: ${MAX_JSON_DEPTH} levels`);
  }
  if (excess) throw new RpcError(INVALID_REQUEST, "Invalid Request: too many JSON values in one message");
}

/** As {@linkcode checkJson}. Yields the event loop before and after a large text. */
export async function checkJsonInTurns(text: string): Promise<void> {
  if (text.length <= LARGE_TEXT_CHARACTERS) return checkJson(text);
  await nextTurn();
  checkJson(text);
  await nextTurn();
}
