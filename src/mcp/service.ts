/**
 * Composes the MCP server: one table of methods per era, served over HTTP and stdio. Definitions may be replaced while it
 * runs; everything else is fixed at start.
 *
 * @module
 */
import { hasScope } from "../http/principal.ts";
import { RateLimitError } from "../http/rate_limit.ts";
import type { Dispatcher, Method } from "../jsonrpc/dispatch.ts";
import { INTERNAL_ERROR, RpcError } from "../jsonrpc/error.ts";
import { StoreUnavailableError } from "../store/store.ts";
import { createInputRequired } from "./input/input_required.ts";
import type { Call, CallHost } from "./call.ts";
import type { Change, ChangedFor } from "./definition/changes.ts";
import { MODERN } from "./era.ts";
import { UnavailableError } from "./error.ts";
import { createCurrentDefinitions } from "./definition/current_definitions.ts";
import { createExchange } from "./exchange.ts";
import { type Lazy, lazy } from "./lazy.ts";
import { compileMethods } from "./methods.ts";
import { createModernWriter } from "./modern.ts";
import { createSchemaConverter } from "./schema/schema_converter.ts";
import { runTool } from "./definition/tools.ts";
import type { Stateful } from "./stateful.ts";
import type { ToolServer, ToolServerOptions } from "./tool_server.ts";

export type { ToolServer, ToolServerOptions };

/** Creates an MCP server. @throws {TypeError} for an invalid definition */
export function createToolServer(options: ToolServerOptions): ToolServer {
  const { observe, base, now, secret, telemetry } = options;
  const writer = createModernWriter(options);
  const schemas = createSchemaConverter(options.toJsonSchema);
  const host: CallHost = {
    schemas,
    telemetry,
    offers: (kind, name) => current.registry![kind].has(name),
    holds: (principal, scope) => principal !== undefined && hasScope(principal, scope, options.implied),
    getLogLevel: (session) => stateful.value!.getLogLevel(session),
    watchCancellation(call, onCancelled) {
      // In a session a disconnect does not cancel; notifications/cancelled does, perhaps at another instance.
      if (call.session) {
        return stateful.value!.cancellations.listen(call.session, call.request.id!, onCancelled);
      }
      const signal = call.connection.request?.signal;
      if (signal?.aborted) onCancelled();
      signal?.addEventListener("abort", onCancelled, { once: true });
      return () => signal?.removeEventListener("abort", onCancelled);
    },
  };
  const inputRequired = createInputRequired(
    lazy(async () => new (await import("./input/inputs.ts")).RequestStates(secret, now)),
  );
  const stateful: Lazy<Stateful> = lazy(async () => {
    const { createStateful } = await import("./stateful.ts");
    const { openStreams } = await streams.load();
    return createStateful({
      ...options,
      host,
      writer,
      inputRequired,
      runTool: async (tool, input, call) => await runTool(tool, input, call, observe),
      registryOf: current.find,
      isIsolated: () => isIsolated,
      openStreams,
    });
  });

  const streams = lazy(async () => {
    const { createCallStreams } = await import("./http/call_stream.ts");
    return createCallStreams({ stateful, limits: options.streamLimits, keepAlive: options.keepAlive });
  });

  /** Set by the first request: a runtime isolates all or none. */
  let isIsolated = false;
  const onFault = (error: unknown, method: string, call?: Call): RpcError | undefined => {
    if (error instanceof StoreUnavailableError) {
      observe({ type: "store_unavailable", where: "mcp", error });
      return new UnavailableError(error);
    }
    if (error instanceof RateLimitError) return new UnavailableError(error, error.message, 429);
    // A cancelled handler may throw anything; its response is not sent.
    if (call?.isCancelled) return new RpcError(INTERNAL_ERROR, "Request cancelled");
    observe({ type: "fault", where: method.slice(0, 100), error });
    return undefined;
  };
  // Other notifications are ignored, also methods that are sent without an id. Without a session there is nothing to cancel.
  const notifications = new Map<string, Method<Call>>([
    [
      "notifications/cancelled",
      (params, call) =>
        call.session || call.connection.onCancelled
          ? stateful.use(({ cancellations }) => cancellations.accept(params, call))
          : undefined,
    ],
  ]);
  const trace = telemetry?.traceMessage;
  const legacy: Dispatcher<Call> = { methods: new Map(), notifications, onFault, trace };
  const modern: Dispatcher<Call> = { methods: new Map(), notifications, onFault, trace };

  const publish = async (change: Change, changedFor?: ChangedFor): Promise<void> =>
    await (await stateful.load()).changes.publish(change, changedFor);
  const current = createCurrentDefinitions(options, {
    schemas,
    legacy,
    modern,
    compileMethods: (registry, extensions) =>
      compileMethods(
        { ...options, extensions, inputRequired, stateful, modernHead: writer.head },
        registry,
      ),
    publish,
    onFault,
  });

  const exchange = createExchange({ host, legacy, modern });
  const card = options.card?.(options);
  /** Not needed over stdio. */
  const http = lazy(async () => {
    const { createHttpHandlers } = await import("./http/http.ts");
    const prepare = (): Promise<void> | undefined =>
      current.registry ? undefined : current.ready().catch((error: Error) => {
        observe({ type: "fault", where: "mcp", error });
        throw new RpcError(INTERNAL_ERROR, `Internal error: the server cannot start. ${error.message}`);
      });
    const outlet = { streams, keepAlive: options.keepAlive };
    return createHttpHandlers(
      { ...options, prepare, writer, onFault, exchange, stateful, outlet },
      `${base}/mcp`,
      options.sse,
      card,
    );
  });

  return {
    mounts: ["mcp"],
    limitName: "mcp",
    refuseLimited: async (request, error) => (await http.load()).refuse(request, error),
    fetch(request, context = {}) {
      if (context.isIsolated) isIsolated = true;
      return Promise.resolve(http.use(({ serve }) => serve(request, context)));
    },
    ready: current.ready,
    async serveStdio(input, output, principal) {
      await current.ready();
      const connection = { exchange, writer, stateful, telemetry };
      const { serveStdio } = await import("./stdio/stdio.ts");
      await serveStdio(connection, input, output, principal);
    },
    replace: current.replace,
    resourceUpdated: (uri, changedFor) => publish({ kind: "resource", uri }, changedFor),
    listChanged: (kind, changedFor) => publish({ kind }, changedFor),
    listTools: () =>
      [...current.registry?.tools.values() ?? []].map(({ describe, scopes }) => ({
        entry: describe(MODERN),
        scopes,
      })),
    openStreams: () => streams.value?.openStreams.count() ?? 0,
    close: () => stateful.value?.closeStreams(),
    stopCalls: async () => await streams.value?.stop(),
  };
}
