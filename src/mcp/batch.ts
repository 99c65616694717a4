/**
 * Whether a batch is allowed: only revision 2025-03-26 and plain JSON-RPC callers have batches
 * (https://modelcontextprotocol.io/specification/2025-03-26/basic#batching).
 *
 * @module
 */
import type { Message } from "../jsonrpc/message.ts";
import { claimedRevision, metaOf } from "./request_meta.ts";

/** Why a batch is refused; `undefined` when it is allowed. `revision` is `undefined` for plain callers. */
export function checkBatchAllowed(
  messages: readonly Message[],
  revision: string | undefined,
): string | undefined {
  if (revision !== undefined && revision !== "2025-03-26") {
    return `Invalid Request: batches are not supported in revision ${revision}`;
  }
  if (messages.some((each) => each.kind === "request" && each.method === "initialize")) {
    return "Invalid Request: initialize must not be part of a batch";
  }
  // A client of 2026-07-28 would not understand the response.
  return messages.some((each) => "params" in each && claimedRevision(metaOf(each.params)) !== undefined)
    ? "Invalid Request: a request with a protocol version in _meta must not be part of a batch"
    : undefined;
}
