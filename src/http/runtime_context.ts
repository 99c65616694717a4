/**
 * Converts what a runtime passes to `fetch` beside the request into a `RequestContext`. The shape shows the runtime: Deno
 * passes an object with `remoteAddr`, Bun its server, workerd bindings and, as third argument, an execution context.
 *
 * @module
 */
import type { RequestContext } from "./service.ts";

/** The second argument of a handler of `deno serve` (`Deno.ServeHandlerInfo`). */
export interface DenoInfo {
  /** Has `hostname` for a TCP connection. */
  readonly remoteAddr: { readonly transport: string };
}

/** The second argument of a default export that Bun serves (`Bun.Server`). */
export interface BunServer {
  requestIP(request: Request): { readonly address: string } | null;
}

/** The third argument on workerd (`ExecutionContext`). */
export interface WorkerContext {
  waitUntil(promise: Promise<unknown>): void;
}

/** The second argument of `fetch`, from a runtime, an entry of Trivet, or a program that embeds Trivet. */
export type RuntimeContext = RequestContext | DenoInfo | BunServer;

/** The context of a request on any runtime. */
export function toRequestContext(
  request: Request,
  given: RuntimeContext | undefined,
  worker?: WorkerContext,
): RequestContext {
  // Only workerd passes three arguments. Cloudflare sets this header field and removes one that a client sent.
  if (typeof worker?.waitUntil === "function") {
    return {
      ip: request.headers.get("cf-connecting-ip") ?? undefined,
      isIsolated: true,
      waitUntil: (promise) => worker.waitUntil(promise),
    };
  }
  if (!given) return {};
  // `in` does not read the value: an entry may compute the address when it is read.
  if ("ip" in given) return given;
  if ("remoteAddr" in given) {
    const { hostname } = given.remoteAddr as { readonly hostname?: unknown };
    return { ip: typeof hostname === "string" ? hostname : undefined };
  }
  if ("requestIP" in given) {
    return {
      get ip() {
        return given.requestIP(request)?.address;
      },
      isBodyBuffered: true,
    };
  }
  return given;
}
