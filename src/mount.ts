/**
 * One fetch handler for one or more services: finds the service of a path, and answers what none of them does.
 *
 * @module
 */
import type { LoopbackGuard } from "./http/network/loopback_guard.ts";
import { loadOnDemand } from "./http/load_on_demand.ts";
import { respondJson, SERVER_FAILED } from "./http/response.ts";
import { pathOf } from "./http/router.ts";
import type { RuntimeContext, WorkerContext } from "./http/runtime_context.ts";
import type { RequestContext, Service } from "./http/service.ts";
import type { Server } from "./options/server_options.ts";
import type { OtherPaths } from "./http/other_paths.ts";

const answerObserved = loadOnDemand(async () =>
  (await import("./observability/observe_request.ts")).answerObserved
);
const answerOtherPath = loadOnDemand(async () => (await import("./http/other_paths.ts")).answerOtherPath);

/** `export default { fetch }` runs on Deno, Bun and workerd. */
export interface Handler {
  /** `context` and `worker` are what the runtime gives; each of them is known by its shape. */
  fetch(request: Request, context?: RuntimeContext, worker?: WorkerContext): Promise<Response>;
}

export interface MountOptions extends Omit<OtherPaths, "base"> {
  readonly services: readonly Service[];
  /** Checks Host and Origin while the server is on loopback. */
  readonly guard?: LoopbackGuard | undefined;
  /** The service that the guard leaves out: wherever the server is, it checks Host and Origin and narrows CORS itself. */
  readonly unguarded?: Service | undefined;
}

/** Makes the handler. */
export function mount(
  server: Pick<
    Server,
    "origin" | "base" | "toContext" | "observe" | "limiter" | "onRequest" | "requestId" | "telemetry"
  >,
  { services, guard, unguarded, home, notFound }: MountOptions,
): Handler {
  const { base, toContext, observe, limiter, onRequest, requestId, telemetry } = server;
  const mounted = new Map(services.flatMap((service) => service.mounts.map((each) => [each, service])));

  const prefix = base + "/";

  /** The service whose mount covers the path: by its first segment below the base, the whole path, or its first two. */
  function find(path: string): Service | undefined {
    if (path.startsWith(prefix)) {
      const start = prefix.length;
      const end = path.indexOf("/", start);
      const service = mounted.get(end < 0 ? path.slice(start) : path.slice(start, end)) ??
        mounted.get(path.slice(base.length)) ??
        mounted.get(path.slice(base.length, path.indexOf("/", end + 1) + 1));
      if (service) return service;
    }
    return mounted.get(path);
  }

  async function answer(request: Request, context: RequestContext): Promise<Response> {
    const path = pathOf(request.url);
    const service = find(path);
    const guarding = service && service === unguarded ? undefined : guard;
    const run = (context: RequestContext): Response | Promise<Response> =>
      guarding?.refuse(request, path) ??
        (service
          ? service.fetch(request, context)
          : answerOtherPath(request, path, { base, home, notFound }));
    try {
      const response = await (limiter ? limiter.run(request, context, service, run) : run(context));
      return guarding ? guarding.finish(request, path, response) : response;
    } catch (error) {
      // Services answer their own errors, so this is a defect in one of them.
      observe({ type: "fault", where: "trivet", error });
      return respondJson(500, {
        error: "server_error",
        error_description: SERVER_FAILED,
      });
    }
  }

  const handle: (request: Request, context: RequestContext, trace?: string) => Promise<Response> = onRequest
    ? (request, context, trace) => answerObserved({ onRequest, requestId }, request, context, answer, trace)
    : answer;
  return {
    fetch(request, given, worker) {
      const context = toContext(request, given, worker);
      return telemetry
        ? telemetry.traceRequest(server, request, context.ip, (trace) => handle(request, context, trace))
        : handle(request, context);
    },
  };
}
