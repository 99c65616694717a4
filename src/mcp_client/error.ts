/**
 * The errors of a client: what the server answered, and what went wrong with the connection to it.
 *
 * @module
 */

/** The error object that the server answered with (JSON-RPC 2.0 section 5.1). */
export class McpError extends Error {
  override readonly name = "McpError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
  }
}

/**
 * Why a connection does not work.
 *
 * - `unreachable`: no connection, or the program could not be started
 * - `closed`: the connection or process ended, or `close()` was called
 * - `malformed`: a message, media type or status that the revision does not allow
 * - `too_large`: a message, list or flood of messages beyond the limits
 * - `timeout`: no message in time
 * - `refused`: the HTTP status was 401 or 403
 * - `status`: another HTTP status without an error object
 * - `redirected`: the server redirected, which clients do not follow
 * - `unsupported`: client and server have no revision in common
 */
export type ConnectionErrorReason =
  | "unreachable"
  | "closed"
  | "malformed"
  | "too_large"
  | "timeout"
  | "refused"
  | "status"
  | "redirected"
  | "unsupported";

/** The facts of a {@linkcode ConnectionError}, besides its reason. */
export interface ConnectionErrorDetails extends ErrorOptions {
  /** The HTTP status. */
  readonly status?: number;
  /** `WWW-Authenticate` of a refusal. */
  readonly challenge?: string | null;
  /** @default true */
  readonly mayHaveRun?: boolean;
}

/** A server that cannot be used: unreachable, closed, too slow, or not a correct MCP server. */
export class ConnectionError extends Error {
  override readonly name = "ConnectionError";
  readonly reason: ConnectionErrorReason;
  /** The URL or command of the server. */
  readonly server: string;
  /** The HTTP status, if there was one. */
  readonly status: number | undefined;
  /** `WWW-Authenticate`, when the status is 401 or 403. */
  readonly challenge: string | null;
  /** `false` when the server certainly did not execute the request, which may then be sent again. */
  readonly mayHaveRun: boolean;

  /** @param message what is wrong and what to do, without the name of the server */
  constructor(
    reason: ConnectionErrorReason,
    server: string,
    message: string,
    { status, challenge = null, mayHaveRun = true, ...options }: ConnectionErrorDetails = {},
  ) {
    super(`${server}: ${message}`, options);
    this.reason = reason;
    this.server = server;
    this.status = status;
    this.challenge = challenge;
    this.mayHaveRun = mayHaveRun;
  }
}

/** Whether the same message may succeed later: no connection, too many requests, or a failure of the server. */
export function isPassing(error: unknown): boolean {
  if (!(error instanceof ConnectionError)) return false;
  const { reason, status = 0 } = error;
  return reason === "unreachable" ||
    reason === "status" && (status === 429 || status >= 500 && status !== 501);
}
