/**
 * From message to answer: methods in a table, batches (https://www.jsonrpc.org/specification#batch), and the one
 * place where what a method throws becomes an error object.
 *
 * @module
 */
import { WorkSlice } from "../http/work_slice.ts";
import { INTERNAL_ERROR, INVALID_REQUEST, METHOD_NOT_FOUND, RpcError } from "./error.ts";
import {
  type AnswerId,
  invalidRequest,
  type Message,
  type Params,
  readMessage,
  type Request,
  type Response,
  WrittenResult,
} from "./message.ts";

/** Answers a request, or takes a notification. Its result is JSON, or a {@linkcode WrittenResult}. */
export type Method<Context> = (params: Params, context: Context) => unknown;

export interface Dispatcher<Context> {
  readonly methods: ReadonlyMap<string, Method<Context>>;
  /** What comes as a notification, for protocols where no method is both. @default methods */
  readonly notifications?: ReadonlyMap<string, Method<Context>>;
  /**
   * Hears what a method threw that was no {@linkcode RpcError}. Callers hear the error that it makes of it, or only that
   * it failed. There is no context where an answer could not be written.
   */
  readonly onFault: (error: unknown, method: string, context?: Context) => RpcError | undefined;
}

/** More messages than this in one batch are refused together: each could be work. */
export const BATCH_LIMIT = 100;

/** The answer to one JSON value: see {@linkcode dispatchMessage}. */
export function dispatch<Context>(
  dispatcher: Dispatcher<Context>,
  value: unknown,
  context: Context,
): Promise<Response | undefined> | Response {
  return dispatchMessage(dispatcher, readMessage(value), context);
}

/** The answer to one message, or `undefined` for a notification or an answer of the caller's. */
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
    case "answer":
      return Promise.resolve(undefined);
    case "invalid":
      return invalidRequest(message);
  }
}

/** Why a batch is refused whole, before any of it is looked at; `undefined` when it is not. */
export function refuseBatchSize(batch: readonly unknown[]): RpcError | undefined {
  if (batch.length === 0) return new RpcError(INVALID_REQUEST, "Invalid Request: the batch is empty");
  return batch.length > BATCH_LIMIT
    ? new RpcError(INVALID_REQUEST, `Invalid Request: batch too large. Maximum: ${BATCH_LIMIT} messages`)
    : undefined;
}

export interface BatchOptions {
  /** Each member waits until the one before is answered: for members that share something that they change. */
  readonly inSeries?: boolean;
}

/**
 * The answers to a batch, in the order of its requests; `undefined` when it asks for none, and one error for
 * a batch that is empty or too long. Members run at the same time unless `inSeries`, each in a context of its own; the
 * event loop is shared between them.
 */
export async function dispatchBatch<Context>(
  dispatcher: Dispatcher<Context>,
  batch: readonly Message[],
  contextOf: (message: Message) => Context,
  { inSeries = false }: BatchOptions = {},
): Promise<readonly Response[] | Response | undefined> {
  const error = refuseBatchSize(batch);
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

/** The error for a method that there is not. */
export function methodNotFound(method: string): RpcError {
  return new RpcError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 200)}`);
}

/** The answer when the server failed: also for whoever finds that JSON cannot hold a result (`where`). */
export function answerFault<Context>(
  { onFault }: Pick<Dispatcher<Context>, "onFault">,
  id: AnswerId,
  fault: unknown,
  where: string,
  context?: Context,
): Response {
  const told = onFault(fault, where, context);
  return { id, error: told ?? new RpcError(INTERNAL_ERROR, "Internal error: the server failed to answer") };
}

/** Nobody hears how a notification went: an unknown one and a failed one are passed over alike. */
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
