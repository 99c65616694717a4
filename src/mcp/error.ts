/**
 * Errors of MCP methods. Plain JSON-RPC callers and MCP clients know some of them by different codes, so those
 * carry both.
 *
 * @module
 */
import { INVALID_PARAMS, RpcError, SERVER_ERROR } from "../jsonrpc/error.ts";
import type { StoreUnavailableError } from "../store/store.ts";

/** Until revision 2025-11-25 (resources, error handling). */
export const RESOURCE_NOT_FOUND = -32002;

/** An unknown tool, prompt or resource: a server error to plain callers, what MCP says to MCP clients. */
export class UnknownNameError extends RpcError {
  override readonly name = "UnknownNameError";
  readonly plain: RpcError;

  constructor(message: string, code: number = INVALID_PARAMS, data?: unknown) {
    super(code, message, data);
    this.plain = new RpcError(SERVER_ERROR, message, data);
  }
}

/** The store is out of reach for a moment; over HTTP a 503 with `Retry-After`. */
export class UnavailableError extends RpcError {
  override readonly name = "UnavailableError";
  /** Seconds. */
  readonly retryAfter: number;

  constructor({ retryAfter }: StoreUnavailableError) {
    super(SERVER_ERROR, "The server cannot reach its storage: try again in a moment", { retryAfter });
    this.retryAfter = retryAfter;
  }
}

/** A call that needs scopes which the caller does not hold (RFC 6750 §3.1); over HTTP a 401 or 403. */
export class ScopeError extends RpcError {
  override readonly name = "ScopeError";
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(SERVER_ERROR, `This call needs a token with the scopes: ${scopes.join(" ")}`);
    this.scopes = scopes;
  }
}
