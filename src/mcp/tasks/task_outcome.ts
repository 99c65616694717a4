/**
 * The outcome of a task as the store can keep it: a tool may return what has no JSON representation.
 *
 * @module
 */
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";
import { toJson } from "../../jsonrpc/to_json.ts";
import { Suspension } from "../input/suspension.ts";

export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** The outcome, or an error if the result has no JSON representation: a task that cannot be stored would never end. */
export function toStorable(outcome: Outcome): Outcome {
  if (!("result" in outcome)) return outcome;
  try {
    toJson(outcome.result);
    return outcome;
  } catch (error) {
    return { error };
  }
}

/** The error of a failed task. Data without a JSON representation is left out. */
export function toTaskError(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof RpcError)) {
    const message = error instanceof Suspension
      ? "Tool suspended without a pending request"
      : "Internal error: the tool failed";
    return { code: INTERNAL_ERROR, message };
  }
  const { code, message, data } = error;
  return "error" in toStorable({ result: data }) ? { code, message } : { code, message, data };
}
