/**
 * One fetch handler for one or more services: finds the service of a path, and answers what none of them does.
 *
 * @module
 */
import { acceptNames } from "./http/body/media_type.ts";
import { allowWellKnown, answerPreflight, isWellKnown } from "./http/cors.ts";
import type { LoopbackGuard } from "./http/network/loopback_guard.ts";
import { loadOnDemand } from "./http/load_on_demand.ts";
import { respondJson, respondText, SERVER_FAILED } from "./http/response.ts";
import { pathOf } from "./http/router.ts";
import type { RuntimeContext, WorkerContext } from "./http/runtime_context.ts";
import type { RequestContext, Service } from "./http/service.ts";
import type { Server } from "./options/server_options.ts";

const answerObserved = loadOnDemand(async () =>
  (await import("./observability/observe_request.ts")).answerObserved
);

/** `export default { fetch }` runs on Deno, Bun and workerd. */
export interface Handler {
  /** `context` and `worker` are what the runtime gives; each of them is known by its shape. */
  fetch(request: Request, context?: RuntimeContext, worker?: WorkerContext): Promise<Response>;
}

export interface MountOptions {
  readonly services: readonly Service[];
  /** Checks Host and Origin while the server is on loopback. */
  readonly guard?: LoopbackGuard | undefined;
  /** The service that the guard leaves out: wherever the server is, it checks Host and Origin and narrows CORS itself. */
  readonly unguarded?: Service | undefined;
  /** The page at the base path. @default not found */
  readonly home?: (request: Request) => Promise<Response>;
  /** 404 for a browser at a path of no service. @default plain text */
  readonly notFound?: (request: Request) => Promise<Response>;
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

  /** The answer at a path of no service. */
  function answerAround(request: Request, path: string): Response | Promise<Response> {
    if (!home || path !== base + "/" && (path !== base || base === "")) {
      const preflight = isWellKnown(path) && answerPreflight(request, "GET, HEAD");
      const isNavigation = request.method === "GET" &&
        acceptNames(request.headers.get("accept"), "text/html");
      if (notFound && isNavigation && !isWellKnown(path)) return notFound(request);
      const text = home ? `Not found. See ${base}/ for the available endpoints.` : "Not found.";
      return allowWellKnown(request, preflight || respondText(404, text));
    }
    if (request.method === "GET" || request.method === "HEAD") return home(request);
    return respondText(405, "Method not allowed. Allowed: GET, HEAD.", [["allow", "GET, HEAD"]]);
  }

  async function answer(request: Request, context: RequestContext): Promise<Response> {
    const path = pathOf(request.url);
    const service = find(path);
    const guarding = service && service === unguarded ? undefined : guard;
    const run = (context: RequestContext): Response | Promise<Response> =>
      guarding?.refuse(request, path) ??
        (service ? service.fetch(request, context) : answerAround(request, path));
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
