/**
 * Errors of MCP methods. Some have a different code for plain JSON-RPC callers and carry both.
 *
 * @module
 */
import {
  INVALID_PARAMS,
  INVALID_REQUEST,
  matchAcrossCopies,
  RpcError,
  SERVER_ERROR,
} from "../jsonrpc/error.ts";
import type { StoreUnavailableError } from "../store/store.ts";
import { REVISIONS } from "./era.ts";

/** 2026-07-28, basic, error codes. */
export const HEADER_MISMATCH = -32020;
export const MISSING_CLIENT_CAPABILITY = -32021;
export const UNSUPPORTED_VERSION = -32022;

/** An invalid definition, which is refused at start. @param name of the definition, or its URI */
export function cannotDefine(name: unknown, why: string, options?: ErrorOptions): TypeError {
  return new TypeError(`Cannot define "${name}": ${why}`, options);
}

/** An unknown tool, prompt or resource: the code of MCP for MCP clients, a server error for plain callers. */
export class UnknownNameError extends RpcError {
  override readonly name: string = "UnknownNameError";
  readonly plain: RpcError;

  constructor(message: string, code: number = INVALID_PARAMS, data?: unknown) {
    super(code, message, data);
    this.plain = new RpcError(SERVER_ERROR, message, data);
  }
}

/** The store is unavailable or too busy; over HTTP a 503 with `Retry-After`. */
export class UnavailableError extends RpcError {
  override readonly name: string = "UnavailableError";
  /** Seconds. */
  readonly retryAfter: number;
  /** The HTTP status. */
  readonly status: 429 | 503;

  constructor(
    { retryAfter }: Pick<StoreUnavailableError, "retryAfter">,
    message = `The server is unavailable. Try again in ${retryAfter} s`,
    status: 429 | 503 = 503,
  ) {
    super(SERVER_ERROR, message, { retryAfter });
    this.retryAfter = retryAfter;
    this.status = status;
  }
}

/** The call needs scopes that the caller does not have (RFC 6750 section 3.1); over HTTP a 401 or 403. */
export class ScopeError extends RpcError {
  override readonly name = "ScopeError";
  readonly scopes: readonly string[];

  constructor(scopes: readonly string[]) {
    super(SERVER_ERROR, `Insufficient scope. Required: ${scopes.join(" ")}`);
    this.scopes = scopes;
  }
}

/** A request with an invalid `_meta`: over HTTP a 400 (2026-07-28, basic, `_meta`). */
export class MetaError extends RpcError {
  constructor(message: string) {
    super(INVALID_PARAMS, `Invalid params: ${message}`);
  }
}

/** The client did not declare a capability that the call needs (2026-07-28, basic, `_meta`). */
export class MissingCapabilityError extends RpcError {
  override readonly name = "MissingCapabilityError";

  /** @param required as in client capabilities: `{ sampling: {} }` */
  constructor(required: Readonly<Record<string, unknown>>) {
    const names = Object.keys(required.extensions as object ?? required).join(", ");
    super(MISSING_CLIENT_CAPABILITY, `Missing required client capability: ${names}`, {
      requiredCapabilities: required,
    });
  }
}

/** The error for header fields that do not match the body (2026-07-28, streamable-http, server validation). */
export function headerMismatch(problem: string): RpcError {
  return new RpcError(HEADER_MISMATCH, `Header mismatch: ${problem}`);
}

/** The error for an unsupported revision (2026-07-28, basic/versioning). */
export function unsupportedVersion(requested: string): RpcError {
  return new RpcError(
    UNSUPPORTED_VERSION,
    `Unsupported protocol version. Supported: ${REVISIONS.join(", ")}`,
    { supported: REVISIONS, requested: requested.slice(0, 100) },
  );
}

/** The HTTP status of an error in 2026-07-28. Errors of methods are 200. */
export function modernStatus(error: RpcError): number {
  switch (error.code) {
    case -32601:
      return 404;
    case -32700:
    case INVALID_REQUEST:
    case HEADER_MISMATCH:
    case MISSING_CLIENT_CAPABILITY:
    case UNSUPPORTED_VERSION:
      return 400;
    default:
      return error instanceof MetaError ? 400 : 200;
  }
}

matchAcrossCopies(ScopeError, "ScopeError");
matchAcrossCopies(MissingCapabilityError, "MissingCapabilityError");
