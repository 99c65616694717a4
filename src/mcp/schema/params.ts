/**
 * Reads the `params` of MCP methods, which are always an object.
 *
 * @module
 */
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import type { Params } from "../../jsonrpc/message.ts";
import { isObject } from "../../json_schema/value.ts";

/** The parameters; an empty object when `params` is absent. @throws {RpcError} -32602 for an array */
export function requireObject(params: Params): Readonly<Record<string, unknown>> {
  if (params === undefined) return {};
  if (Array.isArray(params)) throw new RpcError(INVALID_PARAMS, "Invalid params: params must be an object");
  return params as Readonly<Record<string, unknown>>;
}

/** A parameter that must be a string. @throws {RpcError} -32602 */
export function requireString(params: Readonly<Record<string, unknown>>, name: string): string {
  const value = params[name];
  if (typeof value !== "string") {
    throw new RpcError(INVALID_PARAMS, `Invalid params: ${name} must be a string`);
  }
  return value;
}

/** A parameter that must be an object; an empty object when it is absent. @throws {RpcError} -32602 */
export function optionalObject(
  params: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  const value = params[name];
  if (value === undefined) return {};
  if (!isObject(value)) throw new RpcError(INVALID_PARAMS, `Invalid params: ${name} must be an object`);
  return value;
}
