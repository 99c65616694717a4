/**
 * `tools/list` and `tools/call` (https://modelcontextprotocol.io/specification/2025-11-25/server/tools).
 *
 * @module
 */
import type { Observe } from "../../events.ts";
import { isThenable, type Method } from "../../jsonrpc/dispatch.ts";
import { RpcError } from "../../jsonrpc/error.ts";
import { StoreUnavailableError } from "../../store/store.ts";
import type { Call } from "../call.ts";
import type { CallContext } from "../context.ts";
import { requiredCapabilities } from "../input/client_feature.ts";
import type { ToolResult } from "./content.ts";
import { ToolError } from "./definition.ts";
import { MODERN } from "../era.ts";
import { MissingCapabilityError, UnknownNameError } from "../error.ts";
import { runHandler, toHandlerError } from "../handler.ts";
import { Suspension } from "../input/suspension.ts";
import { lazy } from "../lazy.ts";
import type { ListPages } from "./list_pages.ts";
import { optionalObject, requireObject, requireString } from "../schema/params.ts";
import type { CompiledTool, Registry } from "./registry.ts";
import { requireScopes } from "./scopes.ts";
import { resultFor } from "../revision_shape.ts";
import { type InputRequired, isRetry } from "../input/input_required.ts";
import type { ParseResult } from "../schema/standard_schema.ts";
import { isPassed, toResult } from "./tool_result.ts";

export interface ToolOptions {
  readonly registry: Registry;
  readonly list: ListPages;
  readonly inputRequired: InputRequired;
  /** Runs a tool for a client with the tasks extension: see `tasks.ts`. */
  readonly runAsTask: (
    tool: CompiledTool,
    given: Params,
    input: unknown,
    call: Call,
    params: Params,
  ) => unknown;
  readonly observe: Observe;
}

type Params = Readonly<Record<string, unknown>>;

/** Loads with the first call of a tool whose arguments are repeated in header fields. */
const headerChecks = lazy(() => import("../http/header_parameter_check.ts"));
/** Loads with the first result of a tool that has an output schema. */
const structured = lazy(() => import("../schema/structured_result.ts"));

/** The methods of the tools capability. */
export function toolMethods(options: ToolOptions): [string, Method<Call>][] {
  const { registry: { tools }, list, observe } = options;

  const call: Method<Call> = (params, call) => {
    const object = requireObject(params);
    const name = requireString(object, "name");
    const tool = tools.get(name);
    if (!tool) throw new UnknownNameError(`Unknown tool: ${name.slice(0, 200)}`);
    requireScopes(call, tool.scopes);
    const given = optionalObject(object, "arguments");
    const { headers } = call.request;
    if (headers && tool.headerParameters.length > 0) {
      return headerChecks.use(({ checkHeaderParameters }) => {
        checkHeaderParameters(tool.headerParameters, headers, given);
        return restoreAndRun(tool, given, call, object);
      });
    }
    return restoreAndRun(tool, given, call, object);
  };

  function restoreAndRun(tool: CompiledTool, given: Params, call: Call, object: Params): unknown {
    const modern = call.revision >= MODERN;
    if (modern && tool.task?.support === "required" && !call.can("tasks")) {
      throw new MissingCapabilityError(requiredCapabilities("tasks"));
    }
    if (modern && isRetry(object)) {
      return options.inputRequired.restore(call, "tools/call", object).then(() =>
        parseAndRun(tool, given, call, object, modern)
      );
    }
    return parseAndRun(tool, given, call, object, modern);
  }

  function parseAndRun(
    tool: CompiledTool,
    given: Params,
    call: Call,
    params: Params,
    modern: boolean,
  ): unknown {
    const parsed = parseInput(tool, given);
    return parsed instanceof Promise
      ? parsed.then((parsed) => run(tool, given, parsed, call, params, modern))
      : run(tool, given, parsed, call, params, modern);
  }

  function run(
    tool: CompiledTool,
    given: Params,
    parsed: ParseResult,
    call: Call,
    params: Params,
    modern: boolean,
  ): unknown {
    // MCP 2025-11-25, tools, error handling: the model sees invalid arguments as a result and can correct them.
    if ("problems" in parsed) return failure(`Invalid arguments: ${parsed.problems.join("; ")}`);
    if (!modern) return runTool(tool, parsed.value, call, observe);
    return tool.task && call.can("tasks")
      ? options.runAsTask(tool, given, parsed.value, call, params)
      : options.inputRequired.run(call, "tools/call", params, () =>
        runTool(tool, parsed.value, call, observe));
  }

  return [["tools/list", (params, call) => list(requireObject(params).cursor, call)], ["tools/call", call]];
}

/** Parses the arguments. A Standard Schema may run code of the author, which may throw. */
function parseInput({ input }: CompiledTool, given: Params): ParseResult | Promise<ParseResult> {
  try {
    const parsed = input.parse(given);
    return parsed instanceof Promise ? runHandler(() => parsed) : parsed;
  } catch (error) {
    throw toHandlerError(error);
  }
}

/** The context of a handler, and what running a tool needs besides. */
export interface ToolRun extends CallContext {
  readonly isCancelled: boolean;
  /** Its requests for input of the client that have no response. */
  readonly inputs: { readonly pending: { readonly size: number } } | undefined;
}

/**
 * Runs a tool. Most errors of the tool become a result with `isError`, which the model sees.
 * @throws {RpcError} an error of the protocol that the tool threw; {@linkcode Suspension}; {@linkcode StoreUnavailableError}
 */
export function runTool(
  tool: CompiledTool,
  input: unknown,
  call: ToolRun,
  observe: Observe,
): ToolResult | Promise<ToolResult> {
  const report = (failed: boolean): void => {
    if (call.reportedTool === tool.name) return;
    const { subject, client } = call.principal ?? {};
    observe({ type: "tool_called", name: tool.name, principal: subject ?? client, client, failed });
  };
  const finish = (result: ToolResult): ToolResult => {
    if (!call.inputs?.pending.size) report(result.isError === true);
    return resultFor(call.revision, result);
  };
  const fail = (error: unknown): ToolResult => {
    if (call.inputs?.pending.size || error instanceof Suspension) throw new Suspension();
    report(true);
    if (error instanceof ToolError) return failure(error.message);
    if (error instanceof StoreUnavailableError) throw error;
    if (error instanceof RpcError) {
      // Before 2026-07-28 this code does not exist: the model sees the message.
      if (error instanceof MissingCapabilityError && call.revision < MODERN) return failure(error.message);
      throw toHandlerError(error);
    }
    if (call.isCancelled) return failure("The request was cancelled");
    observe({ type: "fault", where: `tool ${tool.name}`, error });
    return failure("Internal error: the tool failed. The server's log says why.");
  };
  try {
    const given = tool.run(input, call);
    const { output } = tool;
    if (!output && !isThenable(given)) return finish(toResult(given));
    return (async () => {
      try {
        const result = await given;
        return finish(
          output && !isPassed(result)
            ? await structured.use(({ toStructuredResult }) => toStructuredResult(output, result))
            : toResult(result),
        );
      } catch (error) {
        return fail(error);
      }
    })();
  } catch (error) {
    return fail(error);
  }
}

function failure(text: string): ToolResult {
  return { content: [{ type: "text", text }], isError: true };
}
