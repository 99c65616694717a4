/**
 * Checks the results that a client returns for requests of the server: `sampling/createMessage` and `roots/list`
 * (https://modelcontextprotocol.io/specification/2025-11-25/client/sampling).
 *
 * @module
 */
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import type { Root, SamplingAnswer } from "../context.ts";

/** @throws {RpcError} -32602 when the result is not an object */
export function readResultObject(result: unknown, method: string): object {
  if (typeof result === "object" && result !== null) return result;
  throw invalidResult(method, "must be an object");
}

/** @throws {RpcError} -32602 */
export function readSamplingResult(result: object): SamplingAnswer {
  const { role, content, model } = result as Record<string, unknown>;
  if (
    typeof role !== "string" || typeof content !== "object" || content === null || typeof model !== "string"
  ) {
    throw invalidResult("sampling/createMessage", "role, content and model are required");
  }
  return result as SamplingAnswer;
}

/** @throws {RpcError} -32602 */
export function readRootsResult({ roots }: { readonly roots?: unknown }): readonly Root[] {
  const isValid = Array.isArray(roots) &&
    roots.every((root: { uri?: unknown } | null) => typeof root?.uri === "string");
  if (!isValid) throw invalidResult("roots/list", "roots must be a list of objects with a uri");
  return roots;
}

function invalidResult(method: string, reason: string): RpcError {
  return new RpcError(INVALID_PARAMS, `Invalid ${method} result from the client: ${reason}`);
}
