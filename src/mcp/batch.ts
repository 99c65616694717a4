/**
 * Answers batches, which only revision 2025-03-26 and plain JSON-RPC callers have
 * (https://modelcontextprotocol.io/specification/2025-03-26/basic#batching). Loads with the first one.
 *
 * @module
 */
import { checkBatchSize, dispatchBatch } from "../jsonrpc/batch.ts";
import type { Dispatcher } from "../jsonrpc/dispatch.ts";
import type { RpcError } from "../jsonrpc/error.ts";
import {
  type ClientResponse,
  type Message,
  readMessage,
  type Response as RpcResponse,
} from "../jsonrpc/message.ts";
import type { Call } from "./call.ts";
import type { Era } from "./era.ts";
import { claimedRevision, metaOf } from "./request_meta.ts";

/** How a transport serves the messages of a batch. */
export interface BatchOptions {
  readonly era: Era;
  /** `undefined` for a plain caller. */
  readonly revision: string | undefined;
  /** Runs one message after the other, as they may change the same session. */
  readonly inSeries: boolean;
  /** Passes a client's response on to the request that waits for it. */
  readonly deliver: (message: ClientResponse) => unknown;
  readonly createCall: (message: Message) => Call;
}

/** What became of a batch: its responses, or why none of its messages was dispatched. */
export type BatchOutcome =
  | { readonly responses: readonly RpcResponse[] | RpcResponse | undefined }
  | { readonly sizeError: RpcError }
  | { readonly refusal: string };

/** Dispatches the messages of a batch. */
export async function answerBatch(
  dispatcher: Dispatcher<Call>,
  values: readonly unknown[],
  { revision, inSeries, deliver, createCall }: BatchOptions,
): Promise<BatchOutcome> {
  const sizeError = checkBatchSize(values);
  if (sizeError) return { sizeError };
  const messages = values.map(readMessage);
  const refusal = checkBatchAllowed(messages, revision);
  if (refusal !== undefined) return { refusal };
  for (const message of messages) if (message.kind === "response") await deliver(message);
  const calls: Call[] = [];
  const responses = await dispatchBatch(dispatcher, messages, (message) => {
    const call = createCall(message);
    calls.push(call);
    return call;
  }, { inSeries });
  for (const call of calls) call.end();
  return { responses };
}

/** Why a batch is refused; `undefined` when it is allowed. `revision` is `undefined` for plain callers. */
function checkBatchAllowed(
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
