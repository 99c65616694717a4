/**
 * `prompts/list` and `prompts/get` (https://modelcontextprotocol.io/specification/2025-11-25/server/prompts).
 *
 * @module
 */
import type { Method } from "../../jsonrpc/dispatch.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import { isObject } from "../../json_schema/value.ts";
import { type InputRequired, isRetry } from "../input/input_required.ts";
import type { Call } from "../call.ts";
import type { PromptMessage, PromptResult } from "./content.ts";
import type { PromptDefinition } from "./definition.ts";
import { MODERN } from "../era.ts";
import { UnknownNameError } from "../error.ts";
import { runHandler } from "../handler.ts";
import type { ListPages } from "./list_pages.ts";
import { optionalObject, requireObject, requireString } from "../schema/params.ts";
import type { Registry } from "./registry.ts";
import { requireScopes } from "./scopes.ts";
import { contentFor } from "../revision_shape.ts";

export interface PromptOptions {
  readonly registry: Registry;
  readonly list: ListPages;
  readonly inputRequired: InputRequired;
}

/** The methods of the prompts capability. */
export function promptMethods(
  { registry: { prompts }, list, inputRequired }: PromptOptions,
): [string, Method<Call>][] {
  const get: Method<Call> = async (params, call) => {
    const object = requireObject(params);
    const name = requireString(object, "name");
    const prompt = prompts.get(name);
    if (!prompt) throw new UnknownNameError(`Unknown prompt: ${name.slice(0, 200)}`);
    requireScopes(call, prompt.scopes);
    const { definition } = prompt;
    const values = readValues(definition, optionalObject(object, "arguments"));
    const modern = call.revision >= MODERN;
    if (modern && isRetry(object)) await inputRequired.restore(call, "prompts/get", object);
    const run = async () =>
      toResult(definition, await runHandler(() => definition.get(values, call)), call.revision);
    return modern ? await inputRequired.run(call, "prompts/get", object, run) : await run();
  };

  return [["prompts/list", (params, call) => list(requireObject(params).cursor, call)], ["prompts/get", get]];
}

/** @throws {RpcError} -32602 for a missing required argument, or an argument that is not a string */
function readValues(
  { arguments: known = [] }: PromptDefinition,
  given: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const values: [string, string][] = [];
  for (const { name, required } of known) {
    const value = Object.hasOwn(given, name) ? given[name] : undefined;
    if (value === undefined && required) {
      throw new RpcError(INVALID_PARAMS, `Invalid params: missing required argument ${name}`);
    }
    if (value !== undefined && typeof value !== "string") {
      throw new RpcError(INVALID_PARAMS, `Invalid params: argument ${name} must be a string`);
    }
    if (value !== undefined) values.push([name, value]);
  }
  // Not by assignment: an argument may be called `__proto__`.
  return Object.fromEntries(values);
}

/** @throws {TypeError} for a reply that is no prompt: authors without types may return anything */
function toResult(
  { name, description }: PromptDefinition,
  reply: string | readonly PromptMessage[] | PromptResult,
  revision: string,
): Record<string, unknown> {
  const full: PromptResult = typeof reply === "string"
    ? { messages: [{ role: "user", content: { type: "text", text: reply } }] }
    : isList(reply)
    ? { messages: reply }
    : reply;
  if (!Array.isArray(full?.messages) || !full.messages.every(isMessage)) {
    throw new TypeError(
      `Invalid result of prompt "${name}": return a text, a list of messages or { messages }. ` +
        'The role of each message must be "user" or "assistant", its content an object such as ' +
        '{ type: "text", text: "Hello" }',
    );
  }
  return {
    ...(description !== undefined && { description }),
    ...full,
    messages: full.messages.map(({ role, content }) => ({ role, content: contentFor(revision, content) })),
  };
}

/** Clients may know more types of content than this server. */
function isMessage(message: unknown): boolean {
  if (!isObject(message) || !isObject(message.content)) return false;
  const { role, content } = message;
  return (role === "user" || role === "assistant") &&
    (content.type === "text" ? typeof content.text === "string" : typeof content.type === "string");
}

function isList(reply: readonly PromptMessage[] | PromptResult): reply is readonly PromptMessage[] {
  return Array.isArray(reply);
}
