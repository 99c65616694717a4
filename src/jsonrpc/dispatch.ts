/**
 * Dispatches messages to methods (https://www.jsonrpc.org/specification) and turns what a method throws into an error object.
 *
 * @module
 */
import { INTERNAL_ERROR, METHOD_NOT_FOUND, RpcError } from "./error.ts";
import {
  invalidRequest,
  type Message,
  type Params,
  type Request,
  type Response,
  type ResponseId,
  WrittenResult,
} from "./message.ts";

/** Methods by name. */
export type Methods<Context> = Pick<ReadonlyMap<string, Method<Context>>, "get" | "has">;

/** Handles a request or a notification. Returns a JSON value, a {@linkcode WrittenResult}, or a promise of one. */
export type Method<Context> = (params: Params, context: Context) => unknown;

export interface Dispatcher<Context> {
  readonly methods: Methods<Context>;
  /** Handlers of notifications, for protocols where no method is both. @default methods */
  readonly notifications?: Methods<Context>;
  /**
   * Called with what a method threw, unless it is an {@linkcode RpcError}. Returns the error for the response;
   * `undefined` stands for a plain internal error. `context` is absent when a result could not be written as JSON.
   */
  readonly onFault: (error: unknown, method: string, context?: Context) => RpcError | undefined;
  /** Called with each message; returns what `answer` returns. @default calls `answer` */
  readonly trace?:
    | (<Answer>(
      message: Message,
      context: Context,
      answer: () => Answer,
      methods: Methods<Context>,
    ) => Answer)
    | undefined;
}

/** The response to one message; `undefined` for a notification or a response. */
export function dispatchMessage<Context>(
  dispatcher: Dispatcher<Context>,
  message: Message,
  context: Context,
): Promise<Response | undefined> | Response {
  const { trace, methods } = dispatcher;
  return trace
    ? trace(message, context, () => dispatch(dispatcher, message, context), methods)
    : dispatch(dispatcher, message, context);
}

function dispatch<Context>(
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

/** At once when the method returns no promise: most calls of a server need none, and each costs turns of the microtask queue. */
function answer<Context>(
  dispatcher: Dispatcher<Context>,
  { id, method, params }: Request,
  context: Context,
): Promise<Response> | Response {
  const run = dispatcher.methods.get(method);
  if (!run) return { id, error: methodNotFound(method) };
  const fail = (error: unknown): Response =>
    error instanceof RpcError ? { id, error } : answerFault(dispatcher, id, error, method, context);
  try {
    const result = run(params, context);
    return isThenable(result)
      ? Promise.resolve(result).then((result) => toResponse(id, result), fail)
      : toResponse(id, result);
  } catch (error) {
    return fail(error);
  }
}

/** Whether `await` would wait for the value. */
export function isThenable(value: unknown): boolean {
  return typeof (value as { readonly then?: unknown } | null | undefined)?.then === "function";
}

function toResponse(id: ResponseId, result: unknown): Response {
  return result instanceof WrittenResult ? { id, json: result.json } : { id, result: result ?? null };
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
