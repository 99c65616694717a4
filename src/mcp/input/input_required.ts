/**
 * Multi-round-trip requests of 2026-07-28: `tools/call`, `prompts/get` and `resources/read` may be answered with an
 * `InputRequiredResult`, and the client then retries them with its responses
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/mrtr#supported-requests).
 *
 * @module
 */
import type { Call } from "../call.ts";
import { principalKey } from "../session/principal_key.ts";
import type { Inputs, RequestStates } from "./inputs.ts";

type Params = Readonly<Record<string, unknown>>;

/** Runs a request of a method that may require input of the client, and restores the state of its retries. */
export interface InputRequired {
  /** Runs the handler. When it left requests to the client pending, the result is an `InputRequiredResult`. */
  run<Result>(
    call: Call,
    method: InputMethod,
    params: Params,
    handle: () => Promise<Result>,
  ): Promise<Result | Record<string, unknown>>;
  /** Gives the call the responses and the state that a retry carries. @throws {RpcError} -32602 */
  restore(call: Call, method: InputMethod, params: Params): Promise<void>;
}

/** The methods that may be answered with an `InputRequiredResult`. */
export type InputMethod = "tools/call" | "prompts/get" | "resources/read";

/** Whether a request is the retry of one that was answered with an `InputRequiredResult`. */
export function isRetry(params: Params): boolean {
  return params.requestState !== undefined || params.inputResponses !== undefined;
}

/** @param states seals what the runs of one request share into `requestState` */
export function createInputRequired(states: RequestStates): InputRequired {
  return {
    async run(call, method, params, handle) {
      try {
        const result = await handle();
        if (!call.inputs?.pending.size) return result;
      } catch (error) {
        if (!call.inputs?.pending.size) throw error;
      }
      return await states.result(call.inputs as Inputs, toRequestText(call, method, params));
    },
    async restore(call, method, params) {
      call.inputs = await states.open(params, () => toRequestText(call, method, params));
    },
  };
}

/** The text that two requests share when one is a retry of the other: caller, method and parameters. */
function toRequestText({ principal }: Call, method: InputMethod, params: Params): string {
  const { _meta: _, requestState: _state, inputResponses: _responses, ...rest } = params;
  return toCanonicalJson([principalKey(principal), method, rest]);
}

/** JSON text with members ordered by name: a client may serialize the retry in another order. */
function toCanonicalJson(value: unknown): string {
  // JSON.stringify writes the Infinity of 1e999 as null.
  if (typeof value === "number") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(toCanonicalJson).join(",")}]`;
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${toCanonicalJson(each)}`).join(",")}}`;
}
