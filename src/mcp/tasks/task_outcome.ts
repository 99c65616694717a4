/**
 * How a run of a task ended, as it can be kept: what a tool gave may be nothing that JSON can hold.
 *
 * @module
 */
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";
import type { TaskOptions } from "../context.ts";
import { Suspension } from "../input/inputs.ts";

export type Outcome = { readonly result: unknown } | { readonly error: unknown };

/** The outcome, or the error of a result that JSON cannot hold: a task that cannot be kept would never end. */
export function toKept(outcome: Outcome): Outcome {
  if (!("result" in outcome)) return outcome;
  try {
    JSON.stringify(outcome.result);
    return outcome;
  } catch (error) {
    return { error };
  }
}

/** The error of a failed task, without data that JSON cannot hold. */
export function toTaskError(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof RpcError)) {
    const message = error instanceof Suspension
      ? "Tool suspended without a pending request"
      : "Internal error: the tool failed";
    return { code: INTERNAL_ERROR, message };
  }
  const { code, message, data } = error;
  return "error" in toKept({ result: data }) ? { code, message } : { code, message, data };
}

/** @throws {TypeError} for times that are no whole numbers of milliseconds: they would be kept, and told to clients */
export function checkTaskTimes(name: string, { ttl = 0, pollInterval = 0 }: TaskOptions): void {
  for (const [option, value] of Object.entries({ ttl, pollInterval })) {
    // A time so far away that no date has it (ECMA-262, 21.4.1.1) is none.
    if (!Number.isSafeInteger(value) || value < 0 || value > 8e15) {
      throw new TypeError(
        `Invalid task options of tool "${name}": ${option} must be a non-negative integer (milliseconds)`,
      );
    }
  }
}
