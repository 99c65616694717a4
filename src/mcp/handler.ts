/**
 * Separates errors of handlers from errors of the server: an error that a handler throws is returned to the client, but does
 * not set the HTTP status.
 *
 * @module
 */
import { INTERNAL_ERROR, RpcError } from "../jsonrpc/error.ts";
import { MissingCapabilityError, ScopeError, UnavailableError } from "./error.ts";

/**
 * An {@linkcode RpcError} that a handler threw, with its code, message and data. Unlike the server's own errors with the
 * same code it does not set an HTTP status.
 */
export class HandlerError extends RpcError {
  override readonly name = "HandlerError";

  constructor(cause: RpcError) {
    const { code, message, data } = cause;
    // JSON would write null for NaN.
    super(Number.isSafeInteger(code) ? code : INTERNAL_ERROR, message, data, { cause });
  }
}

/** Errors that the server throws while a handler runs: these keep their HTTP status. */
const SERVER_ERRORS = [ScopeError, MissingCapabilityError, UnavailableError, HandlerError];

/** The error to throw for an error that a handler threw. */
export function toHandlerError(error: unknown): unknown {
  const isOwn = error instanceof RpcError && !SERVER_ERRORS.some((Class) => error instanceof Class);
  return isOwn ? new HandlerError(error) : error;
}

/** Runs a handler. @throws what it throws, see {@linkcode toHandlerError} */
export async function runHandler<Result>(run: () => Result): Promise<Awaited<Result>> {
  try {
    return await run();
  } catch (error) {
    throw toHandlerError(error);
  }
}
