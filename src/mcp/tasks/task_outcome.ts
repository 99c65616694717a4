/**
 * The outcome of a run of a task, and the record that it makes: a tool may return what has no JSON representation.
 *
 * @module
 */
import { INTERNAL_ERROR, RpcError } from "../../jsonrpc/error.ts";
import { toJson } from "../../jsonrpc/to_json.ts";
import type { Inputs } from "../input/inputs.ts";
import { Suspension } from "../input/suspension.ts";
import { isTerminal, type TaskRecord } from "./task_store.ts";

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
function toTaskError(error: unknown): { code: number; message: string; data?: unknown } {
  if (!(error instanceof RpcError)) {
    const message = error instanceof Suspension
      ? "Tool suspended without a pending request"
      : "Internal error: the tool failed";
    return { code: INTERNAL_ERROR, message };
  }
  const { code, message, data } = error;
  return "error" in toStorable({ result: data }) ? { code, message } : { code, message, data };
}

/**
 * The task once a run has ended: with its outcome, or waiting for what it asked. `undefined` where that changes nothing, since
 * the task has ended, or the response of the commit was lost and the client may have answered since.
 */
export function toSettled(
  now: TaskRecord,
  { kept, pending }: Pick<Inputs, "kept" | "pending">,
  outcome: Outcome,
): TaskRecord | undefined {
  if (isTerminal(now)) return undefined;
  if (pending.size > 0) {
    const isAnswered = [...pending.keys()].some((key) => Object.hasOwn(now.answers, key));
    if (isAnswered || now.status !== "working") return undefined;
    return { ...now, status: "input_required", kept, inputRequests: Object.fromEntries(pending) };
  }
  if ("result" in outcome) return { ...now, status: "completed", result: outcome.result };
  const error = toTaskError(outcome.error);
  return { ...now, status: "failed", statusMessage: error.message, error };
}
