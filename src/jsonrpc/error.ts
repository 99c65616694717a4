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
/** The first of the codes reserved for implementation-defined server errors (-32000 to -32099). */
export const SERVER_ERROR = -32000;

/**
 * Makes `instanceof` work across copies of this package: a module with tools may depend on its own copy. Subclasses keep
 * the usual `instanceof`.
 */
export function matchAcrossCopies(Class: new (...args: never[]) => Error, name: string): void {
  const mark = Symbol.for(`trivet.${name}`);
  Object.defineProperty(Class.prototype, mark, { value: true });
  Object.defineProperty(Class, Symbol.hasInstance, {
    value(this: unknown, value: unknown): boolean {
      if (this !== Class) return Function.prototype[Symbol.hasInstance].call(this as () => void, value);
      return typeof value === "object" && value !== null && mark in value;
    },
  });
}

/** Thrown by a method to respond with an error object. Anything else that is thrown is an internal error. */
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

matchAcrossCopies(RpcError, "RpcError");
