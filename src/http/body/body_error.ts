/**
 * Why a request body is refused, and how its rest is left unread.
 *
 * @module
 */

/** The request body is not acceptable. `status` is the HTTP status; each service writes its own form of error response. */
export class BodyError extends Error {
  override readonly name = "BodyError";
  readonly status: 400 | 413 | 415;

  constructor(status: 400 | 413 | 415, message: string, options?: ErrorOptions) {
    super(message, options);
    this.status = status;
  }
}

/** The connection broke before the body was complete. */
export function incompleteBody(cause: unknown): BodyError {
  return new BodyError(400, "The request body is incomplete: the connection ended early", { cause });
}

/** The error for more than `limit` bytes. */
export function tooLarge(limit: number): BodyError {
  return new BodyError(413, `The request body must be at most ${limit} bytes`);
}

/**
 * Cancels the rest of a body without waiting: the stream of a cloned request only settles when its other branch is
 * cancelled too, and the client may have disconnected already.
 */
export function cancel(body: { cancel(): Promise<void> }): void {
  body.cancel().catch(() => {});
}
