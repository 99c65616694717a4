/**
 * `completion/complete`: values for an argument of a prompt, or for a variable of a resource template
 * (https://modelcontextprotocol.io/specification/2025-11-25/server/utilities/completion).
 *
 * @module
 */
import type { Method } from "../../jsonrpc/dispatch.ts";
import { INVALID_PARAMS, RpcError } from "../../jsonrpc/error.ts";
import type { Call } from "../call.ts";
import type { Complete, CompletionValues } from "./definition.ts";
import { UnknownNameError } from "../error.ts";
import { runHandler } from "../handler.ts";
import { optionalObject, requireObject, requireString } from "../schema/params.ts";
import type { Registry } from "./registry.ts";
import { requireScopes } from "./scopes.ts";
import { variableNames } from "./uri/uri_expression.ts";

/** Values in one result. */
const MAX_VALUES = 100;

/** The method of the completions capability. */
export function completionMethods(registry: Registry): [string, Method<Call>][] {
  const complete: Method<Call> = async (params, call) => {
    const object = requireObject(params);
    const ref = requireObjectMember(object, "ref");
    const argument = requireObjectMember(object, "argument");
    const name = requireString(argument, "name");
    const value = requireString(argument, "value");
    const known = optionalObject(optionalObject(object, "context"), "arguments");
    for (const [key, each] of Object.entries(known)) {
      if (typeof each !== "string") {
        throw new RpcError(
          INVALID_PARAMS,
          `Invalid params: context.arguments.${key.slice(0, 100)} must be a string`,
        );
      }
    }
    const completer = findCompleter(registry, ref, name, call);
    // Middleware gets the call.
    const context = Object.assign(call, { arguments: known as Record<string, string> });
    const given = completer ? await runHandler(() => completer(value, context)) : [];
    const { values, total, hasMore }: CompletionValues = "length" in given
      ? { values: given, total: given.length, hasMore: false }
      : given;
    return {
      completion: {
        values: values.slice(0, MAX_VALUES),
        total,
        hasMore: values.length > MAX_VALUES || hasMore,
      },
    };
  };
  return registry.completes ? [["completion/complete", complete]] : [];
}

/** @throws {RpcError} -32602 for an unknown reference, argument or variable; {@linkcode ScopeError} */
function findCompleter(
  { prompts, templates }: Registry,
  ref: Readonly<Record<string, unknown>>,
  name: string,
  call: Call,
): Complete | undefined {
  if (ref.type === "ref/prompt") {
    const prompt = prompts.get(requireString(ref, "name"));
    if (!prompt) throw new UnknownNameError(`Unknown prompt: ${String(ref.name).slice(0, 200)}`);
    requireScopes(call, prompt.scopes);
    const argument = prompt.definition.arguments?.find((each) => each.name === name);
    if (!argument) throw unknownArgument(name);
    return argument.complete;
  }
  if (ref.type === "ref/resource") {
    const uri = requireString(ref, "uri");
    const template = templates.find((each) => each.name === uri);
    if (!template) throw new UnknownNameError(`Unknown resource template: ${uri.slice(0, 500)}`);
    requireScopes(call, template.scopes);
    if (!variableNames(uri).includes(name)) throw unknownArgument(name);
    const { complete = {} } = template.definition;
    return Object.hasOwn(complete, name) ? complete[name] : undefined;
  }
  throw new RpcError(INVALID_PARAMS, "Invalid params: ref.type must be ref/prompt or ref/resource");
}

function unknownArgument(name: string): RpcError {
  return new RpcError(
    INVALID_PARAMS,
    `Invalid params: unknown argument ${name.slice(0, 200)}`,
  );
}

function requireObjectMember(
  params: Readonly<Record<string, unknown>>,
  name: string,
): Readonly<Record<string, unknown>> {
  if (params[name] === undefined) throw new RpcError(INVALID_PARAMS, `Invalid params: ${name} is required`);
  return optionalObject(params, name);
}
