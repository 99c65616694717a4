/**
 * Calls whose handlers may ask the client, in 2026-07-28: `tools/call`, `prompts/get`, `resources/read`
 * (https://modelcontextprotocol.io/specification/draft/basic/patterns/mrtr#supported-requests). When a run ends with
 * questions, they are the answer, whatever else it gave.
 *
 * @module
 */
import type { Call } from "../call.ts";
import type { Inputs, RequestStates } from "./inputs.ts";
import { principalKey } from "../session/principal_key.ts";

type Params = Readonly<Record<string, unknown>>;

export interface AskAgain {
  /** Runs; the result, or the one that asks for input. */
  <Result>(
    call: Call,
    method: Asking,
    params: Params,
    run: () => Promise<Result>,
  ): Promise<Result | Record<string, unknown>>;
  /** Takes over the answers that came with the request. @throws {RpcError} -32602 */
  open(call: Call, method: Asking, params: Params): Promise<void>;
}

/** The methods whose handlers may ask. */
export type Asking = "tools/call" | "prompts/get" | "resources/read";

/** Whether the request is one that comes again. */
export function comesAgain(params: Params): boolean {
  return params.requestState !== undefined || params.inputResponses !== undefined;
}

/** Joins runs by what `states` seals. */
export function createAskAgain(states: RequestStates): AskAgain {
  async function askAgain<Result>(
    call: Call,
    method: Asking,
    params: Params,
    run: () => Promise<Result>,
  ): Promise<Result | Record<string, unknown>> {
    try {
      const result = await run();
      if (!call.inputs?.pending.size) return result;
    } catch (error) {
      if (!call.inputs?.pending.size) throw error;
    }
    return await states.result(call.inputs as Inputs, identify(call, method, params));
  }
  return Object.assign(askAgain, {
    async open(call: Call, method: Asking, params: Params): Promise<void> {
      call.inputs = await states.open(params, () => identify(call, method, params));
    },
  });
}

/** What makes two requests the same: who calls, the method, and all parameters but `_meta` and the answers. */
function identify({ principal }: Call, method: Asking, params: Params): string {
  const { _meta: _, requestState: _state, inputResponses: _responses, ...rest } = params;
  return canonical([principalKey(principal), method, rest]);
}

/** JSON text with members in order, since clients may write them anew. */
function canonical(value: unknown): string {
  // JSON.stringify makes null of 1e999.
  if (typeof value === "number") return String(value);
  if (typeof value !== "object" || value === null) return JSON.stringify(value);
  if (Array.isArray(value)) return `[${value.map(canonical).join(",")}]`;
  const members = Object.entries(value).sort(([a], [b]) => a < b ? -1 : 1);
  return `{${members.map(([name, each]) => `${JSON.stringify(name)}:${canonical(each)}`).join(",")}}`;
}
