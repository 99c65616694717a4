/**
 * What each runtime hands to a default export's `fetch` beside the request, told apart by shape: Deno an object with
 * `remoteAddr`, Bun its server, workerd bindings and, third, an execution context.
 *
 * @module
 */
import type { RequestContext } from "./service.ts";

/** The second argument of a handler of `deno serve` (`Deno.ServeHandlerInfo`). */
export interface DenoInfo {
  /** `hostname` where the connection is one of TCP. */
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

/** What a runtime, an entry of ours or an embedder gives beside the request. */
export type RuntimeContext = RequestContext | DenoInfo | BunServer;

/** The context of a request, whoever serves the handler. */
export function toRequestContext(
  request: Request,
  given: RuntimeContext | undefined,
  worker?: WorkerContext,
): RequestContext {
  // Only workerd gives three; its edge sets this field and removes what a client sent under the name.
  if (typeof worker?.waitUntil === "function") {
    return {
      ip: request.headers.get("cf-connecting-ip") ?? undefined,
      waitUntil: (promise) => worker.waitUntil(promise),
    };
  }
  if (given === undefined || given === null) return {};
  // Asked by name, not by value: an entry works the address out when it is read.
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
    };
  }
  return given;
}
