/**
 * `prompts/list` and `prompts/get` (https://modelcontextprotocol.io/specification/2025-11-25/server/prompts).
 *
 * @module
 */
import type { Method } from "../jsonrpc/dispatch.ts";
import { INVALID_PARAMS, RpcError } from "../jsonrpc/error.ts";
import { WrittenResult } from "../jsonrpc/message.ts";
import type { CallContext } from "./definition.ts";
import { UnknownNameError } from "./error.ts";
import { optionalObject, refuseCursor, requireObject, requireString } from "./params.ts";
import type { Registry } from "./registry.ts";

/** The methods of the prompts capability. */
export function promptMethods({ prompts, promptsList }: Registry): [string, Method<CallContext>][] {
  if (prompts.size === 0) return [];
  const written = new WrittenResult(promptsList);

  const get: Method<CallContext> = async (params, context) => {
    const object = requireObject(params);
    const name = requireString(object, "name");
    const prompt = prompts.get(name);
    if (!prompt) throw new UnknownNameError(`Unknown prompt: ${name.slice(0, 200)}`);
    const given = optionalObject(object, "arguments");
    const values: Record<string, string> = {};
    for (const argument of prompt.arguments ?? []) {
      const value = Object.hasOwn(given, argument.name) ? given[argument.name] : undefined;
      if (value === undefined && argument.required) {
        throw new RpcError(INVALID_PARAMS, `Invalid params: the argument ${argument.name} is missing`);
      }
      if (value !== undefined && typeof value !== "string") {
        throw new RpcError(INVALID_PARAMS, `Invalid params: the argument ${argument.name} must be a string`);
      }
      if (value !== undefined) values[argument.name] = value;
    }
    const result = await prompt.get(values, context);
    const messages = typeof result === "string"
      ? [{ role: "user", content: { type: "text", text: result } }]
      : result;
    return { ...(prompt.description !== undefined && { description: prompt.description }), messages };
  };

  return [["prompts/list", (params) => {
    refuseCursor(params);
    return written;
  }], ["prompts/get", get]];
}
