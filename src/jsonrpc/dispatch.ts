/**
 * Dispatches messages and batches to methods (https://www.jsonrpc.org/specification#batch) and turns what a method throws
 * into an error object.
 *
 * @module
 */
import { WorkSlice } from "../http/work_slice.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError } from "./error.ts";
import {
  invalidRequest,
  type Message,
  type Params,
  type Request,
  type Response,
  type ResponseId,
  WrittenResult,
} from "./message.ts";

/** Handles a request or a notification. Returns a JSON value or a {@linkcode WrittenResult}. */
export type Method<Context> = (params: Params, context: Context) => unknown;

export interface Dispatcher<Context> {
  readonly methods: ReadonlyMap<string, Method<Context>>;
  /** Handlers of notifications, for protocols where no method is both. @default methods */
  readonly notifications?: ReadonlyMap<string, Method<Context>>;
  /**
   * Called with what a method threw, unless it is an {@linkcode RpcError}. Returns the error for the response;
   * `undefined` stands for a plain internal error. `context` is absent when a result could not be written as JSON.
   */
  readonly onFault: (error: unknown, method: string, context?: Context) => RpcError | undefined;
}

/** A batch with more messages is refused as a whole. */
export const MAX_BATCH_MESSAGES = 100;

/** The response to one message; `undefined` for a notification or a response. */
export function dispatchMessage<Context>(
  dispatcher: Dispatcher<Context>,
  message: Message,
  context: Context,
): Promise<Response | undefined> | Response {
  switch (message.kind) {
    case "request":
      return answer(dispatcher, message, context);
    case "notification":
      return notify(dispatcher, message.method, message.params, context);
    case "response":
      return Promise.resolve(undefined);
    case "invalid":
      return invalidRequest(message);
  }
}

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

async function answer<Context>(
  dispatcher: Dispatcher<Context>,
  { id, method, params }: Request,
  context: Context,
): Promise<Response> {
  const run = dispatcher.methods.get(method);
  if (!run) return { id, error: methodNotFound(method) };
  try {
    const result = await run(params, context);
    return result instanceof WrittenResult ? { id, json: result.json } : { id, result: result ?? null };
  } catch (error) {
    return error instanceof RpcError ? { id, error } : answerFault(dispatcher, id, error, method, context);
  }
}

/** The error for an unknown method. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 200)}`);
}

/** The response when a method failed, or its result could not be written as JSON. `where` goes to the observer. */
export function answerFault<Context>(
  { onFault }: Pick<Dispatcher<Context>, "onFault">,
  id: ResponseId,
  fault: unknown,
  where: string,
  context?: Context,
): Response {
  const error = onFault(fault, where, context);
  return { id, error: error ?? new RpcError(INTERNAL_ERROR, "Internal error: the server failed to answer") };
}

/** A notification has no response: unknown ones are ignored, and so are {@linkcode RpcError}s. */
async function notify<Context>(
  { methods, notifications = methods, onFault }: Dispatcher<Context>,
  method: string,
  params: Params,
  context: Context,
): Promise<undefined> {
  try {
    await notifications.get(method)?.(params, context);
  } catch (error) {
    if (!(error instanceof RpcError)) onFault(error, method, context);
  }
  return undefined;
}
