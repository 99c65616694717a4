/**
 * The line between the server and the handlers that users write: an error that a handler throws is its answer, and says
 * nothing of the request's HTTP status.
 *
 * @module
 */
import { INTERNAL_ERROR, RpcError } from "../jsonrpc/error.ts";
import { MissingCapabilityError, ScopeError, UnavailableError } from "./error.ts";

/**
 * An {@linkcode RpcError} of a handler, with its code, message and data. The server's own errors with the same codes
 * have HTTP statuses; this one never has.
 */
export class HandlerError extends RpcError {
  override readonly name = "HandlerError";

  constructor(cause: RpcError) {
    const { code, message, data } = cause;
    // JSON writes null for what is no number.
    super(Number.isSafeInteger(code) ? code : INTERNAL_ERROR, message, data, { cause });
  }
}

/** What the server throws on behalf of a handler: these keep their HTTP status. */
const OF_SERVER = [ScopeError, MissingCapabilityError, UnavailableError, HandlerError];

/** The error to throw in place of one that a handler threw. */
export function toHandlerError(error: unknown): unknown {
  const isOwn = error instanceof RpcError && !OF_SERVER.some((Class) => error instanceof Class);
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
