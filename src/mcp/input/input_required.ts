/**
 * Multi-round-trip requests of 2026-07-28: `tools/call`, `prompts/get` and `resources/read` may be answered with an
 * `InputRequiredResult`, and the client then retries them with its responses
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/mrtr#supported-requests).
 *
 * @module
 */
import type { Call } from "../call.ts";
import type { Lazy } from "../lazy.ts";
import type { Inputs, RequestStates } from "./inputs.ts";

type Params = Readonly<Record<string, unknown>>;

/** Runs a request of a method that may require input of the client, and restores the state of its retries. */
export interface InputRequired {
  /** Runs the handler. When it left requests to the client pending, the result is an `InputRequiredResult`. */
  run<Result>(
    call: Call,
    method: InputMethod,
    params: Params,
    handle: () => Result | Promise<Result>,
  ): Result | Promise<Result | Record<string, unknown>>;
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
export function createInputRequired(states: Lazy<RequestStates>): InputRequired {
  async function finish<Result>(
    call: Call,
    method: InputMethod,
    params: Params,
    handled: Result | Promise<Result>,
  ): Promise<Result | Record<string, unknown>> {
    try {
      const result = await handled;
      if (!call.inputs?.pending.size) return result;
    } catch (error) {
      if (!call.inputs?.pending.size) throw error;
    }
    // A handler that asks for two inputs at once ends with the first.
    await Promise.allSettled(call.asking ?? []);
    return await (await states.load()).result(call.inputs as Inputs, call.principal, method, params);
  }

  return {
    run(call, method, params, handle) {
      let handled;
      try {
        handled = handle();
      } catch (error) {
        handled = Promise.reject(error);
      }
      return handled instanceof Promise || call.asking ? finish(call, method, params, handled) : handled;
    },
    async restore(call, method, params) {
      call.inputs = await (await states.load()).open(call.principal, method, params);
    },
  };
}
