/**
 * Dispatches batches (https://www.jsonrpc.org/specification#batch). A module of its own, since few callers send them.
 *
 * @module
 */
import { WorkSlice } from "../http/work_slice.ts";
import { type Dispatcher, dispatchMessage } from "./dispatch.ts";
import { INVALID_REQUEST, RpcError } from "./error.ts";
import type { Message, Response } from "./message.ts";

/** A batch with more messages is refused as a whole. */
export const MAX_BATCH_MESSAGES = 100;

/** Why a batch is refused before any of its messages is read; `undefined` for a batch of an allowed size. */
export function checkBatchSize(batch: readonly unknown[]): RpcError | undefined {
  if (batch.length === 0) return new RpcError(INVALID_REQUEST, "Invalid Request: the batch is empty");
  return batch.length > MAX_BATCH_MESSAGES
    ? new RpcError(
      INVALID_REQUEST,
      `Invalid Request: batch too large. Maximum: ${MAX_BATCH_MESSAGES} messages`,
    )
    : undefined;
}

export interface BatchOptions {
  /** Runs one message after the other, for messages that change the same record. @default false */
  readonly inSeries?: boolean;
}

/**
 * The responses to a batch, in the order of its requests; `undefined` when it has no requests; a single error when it is
 * empty or too large. Messages run concurrently unless `inSeries`, each in its own context, and yield the event loop.
 */
export async function dispatchBatch<Context>(
  dispatcher: Dispatcher<Context>,
  batch: readonly Message[],
  contextOf: (message: Message) => Context,
  { inSeries = false }: BatchOptions = {},
): Promise<readonly Response[] | Response | undefined> {
  const error = checkBatchSize(batch);
  if (error) return { id: null, error };
  const slice = new WorkSlice();
  const running: (Promise<Response | undefined> | Response)[] = [];
  for (const message of batch) {
    const answered = dispatchMessage(dispatcher, message, contextOf(message));
    running.push(inSeries ? (await answered)! : answered);
    if (slice.isOver) await slice.yield();
  }
  const responses = (await Promise.all(running)).filter((response) => response !== undefined);
  return responses.length > 0 ? responses : undefined;
}
