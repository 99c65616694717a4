/**
 * JSON-RPC 2.0 error objects (https://www.jsonrpc.org/specification#error_object).
 *
 * @module
 */

export const PARSE_ERROR = -32700;
export const INVALID_REQUEST = -32600;
export const METHOD_NOT_FOUND = -32601;
export const INVALID_PARAMS = -32602;
export const INTERNAL_ERROR = -32603;
/** The first of the codes that a server may use for errors of its own (-32000 to -32099). */
export const SERVER_ERROR = -32000;

/** What a method throws to answer with an error. Everything else that is thrown is an internal error. */
export class RpcError extends Error {
  override readonly name: string = "RpcError";
  readonly code: number;
  readonly data: unknown;

  constructor(code: number, message: string, data?: unknown, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
    this.data = data;
  }
}
