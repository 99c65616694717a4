/**
 * Passes requests of an upstream for input (elicitation, sampling, roots) to the client of the call, and its answers back.
 *
 * @module
 */
import { INVALID_PARAMS, METHOD_NOT_FOUND, RpcError } from "../../../jsonrpc/error.ts";
import { isObject } from "../../../json_schema/value.ts";
import type { CallContext, SamplingRequest } from "../../../mcp/context.ts";
import { MissingCapabilityError } from "../../../mcp/error.ts";
import { Suspension } from "../../../mcp/input/suspension.ts";
import { passThroughSchema } from "../../../mcp/schema/pass_through_schema.ts";
import { type JsonObject, McpError } from "../../../mcp_client/client.ts";

/** Which upstream asks, and whether its name is shown to the user. */
export interface Asking {
  readonly name: string;
  readonly isNamed: boolean;
}

/**
 * Asks the client.
 * @param key identifies the request within the call
 * @throws {Suspension} where the run ends until the client answers
 * @throws {RpcError} an invalid request, an invalid answer, or a client without the capability
 */
export async function relayRequest(
  context: CallContext,
  asking: Asking,
  method: string,
  params: JsonObject,
  key?: string,
): Promise<JsonObject> {
  const keyed = key === undefined ? {} : { key };
  switch (method) {
    case "elicitation/create": {
      const { mode, message, requestedSchema, url, elicitationId } = params;
      if (typeof message !== "string") throw invalid("message must be a string");
      const shown = asking.isNamed ? `${asking.name}: ${message}` : message;
      if (mode === "url") {
        if (typeof url !== "string" || !isWebUrl(url)) throw invalid("url must be an http or https URL");
        const id = typeof elicitationId === "string" ? { elicitationId } : {};
        const { action } = await context.elicit({ mode, message: shown, url, ...id, ...keyed });
        return { action };
      }
      if (!isObject(requestedSchema)) throw invalid("requestedSchema must be an object");
      const schema = passThroughSchema(requestedSchema);
      const { action, content } = await context.elicit({ message: shown, schema, ...keyed });
      return action === "accept" ? { action, content } : { action };
    }
    case "sampling/createMessage":
      return { ...await context.sample({ ...params as unknown as SamplingRequest, ...keyed }) };
    case "roots/list":
      return { roots: await context.listRoots(keyed) };
    default:
      throw new RpcError(METHOD_NOT_FOUND, `Method not found: ${method.slice(0, 100)}`);
  }
}

/** As {@linkcode relayRequest}, for an upstream that waits: errors become those that MCP has for it. */
export async function answerUpstream(
  context: CallContext,
  asking: Asking,
  method: string,
  params: JsonObject,
  key?: string,
): Promise<JsonObject> {
  try {
    return await relayRequest(context, asking, method, params, key);
  } catch (error) {
    if (error instanceof Suspension) throw error;
    throw toServerError(error, method);
  }
}

function toServerError(error: unknown, method: string): unknown {
  if (error instanceof MissingCapabilityError) {
    return new McpError(METHOD_NOT_FOUND, `The client does not support ${method}`);
  }
  if (error instanceof RpcError) return new McpError(error.code, error.message, error.data);
  // A form that no client can show.
  if (error instanceof TypeError) return new McpError(INVALID_PARAMS, error.message);
  return error;
}

/** Other URLs, such as those of `file:` or of a program, would open something else on the machine of the user. */
export function isWebUrl(url: string): boolean {
  return /^https?:\/\//i.test(url) && URL.canParse(url);
}

function invalid(problem: string): RpcError {
  return new RpcError(INVALID_PARAMS, `Invalid elicitation/create: ${problem}`);
}
