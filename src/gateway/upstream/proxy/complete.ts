/**
 * Completion of arguments and variables by the upstream (`completion/complete`).
 *
 * @module
 */
import { METHOD_NOT_FOUND } from "../../../jsonrpc/error.ts";
import { isObject } from "../../../json_schema/value.ts";
import type { Complete, CompletionValues } from "../../../mcp/definition/definition.ts";
import { type JsonObject, McpError } from "../../../mcp_client/client.ts";
import { toMethodError } from "../failure.ts";
import type { CallTarget } from "./call_target.ts";

/** Completes one argument of a prompt, or one variable of a template. */
export function completeAt(target: CallTarget, ref: JsonObject, name: string): Complete {
  return async (value, { principal, arguments: known }) => {
    // A completion is quick, and has no signal of its own.
    const caller = { principal, signal: AbortSignal.timeout(target.timeout) };
    try {
      const session = await target.enter(caller);
      try {
        const result = await session.client.request("completion/complete", {
          ref,
          argument: { name, value },
          // Older revisions do not have the context.
          ...(session.info.revision >= "2025-06-18" && Object.keys(known).length > 0 && {
            context: { arguments: known },
          }),
        }, { signal: caller.signal, timeout: target.timeout, caller: principal });
        target.leave(session);
        return readCompletion(result);
      } catch (error) {
        target.leave(session, error);
        throw error;
      }
    } catch (error) {
      // 2024-11-05 has no capability for completion.
      if (error instanceof McpError && error.code === METHOD_NOT_FOUND) return [];
      throw toMethodError(target.name, error, target.timeout);
    }
  };
}

function readCompletion({ completion }: JsonObject): CompletionValues {
  const { values, total, hasMore } = isObject(completion) ? completion : {};
  return {
    values: Array.isArray(values) ? values.filter((each) => typeof each === "string") : [],
    ...(typeof total === "number" && { total }),
    ...(typeof hasMore === "boolean" && { hasMore }),
  };
}
