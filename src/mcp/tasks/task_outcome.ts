/**
 * The outcome of a task as the store can keep it: a tool may return what has no JSON representation.
 *
 * @module
 */
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";
import type { TaskOptions } from "../context.ts";
import { Suspension } from "../input/suspension.ts";

/** The largest time value of a date (ECMA-262, 21.4.1.1), less some 20,000 years. */
const MAX_TIME_MS = 8e15;

export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** The outcome, or an error if the result has no JSON representation: a task that cannot be stored would never end. */
export function toStorable(outcome: Outcome): Outcome {
  if (!("result" in outcome)) return outcome;
  try {
    JSON.stringify(outcome.result);
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

/** @throws {TypeError} unless the times are non-negative integers (milliseconds) that a date can express */
export function checkTaskTimes(name: string, { ttl = 0, pollInterval = 0 }: TaskOptions): void {
  for (const [option, value] of Object.entries({ ttl, pollInterval })) {
    if (!Number.isSafeInteger(value) || value < 0 || value > MAX_TIME_MS) {
      throw new TypeError(
        `Invalid task options of tool "${name}": ${option} must be a non-negative integer (milliseconds)`,
      );
    }
  }
}
