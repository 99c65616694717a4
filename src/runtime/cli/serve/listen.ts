/**
 * Listens with the entry of the runtime that the command runs on, also before there is anything that could answer.
 *
 * @module
 */
import { NO_STORE, respondText } from "../../../http/response.ts";
import { pathOf } from "../../../http/router.ts";
import type { FetchHandler, RunningServer, ServeOptions } from "../../server.ts";

/**
 * @param option the one that sets the port
 * @throws {Error} naming the address, when it is in use or cannot be listened on
 */
export async function listen(
  handler: FetchHandler,
  options: ServeOptions,
  option: string = "--port",
): Promise<RunningServer> {
  const entry = "Deno" in globalThis
    ? await import("../../deno.ts")
    : "Bun" in globalThis
    ? await import("../../bun.ts")
    : await import("../../node.ts");
  try {
    return await entry.serve(handler, options);
  } catch (cause) {
    const { code = "", message } = cause as { code?: string; message: string };
    const isInUse = /EADDRINUSE|AddrInUse|in use/i.test(code + message);
    const address = `${options.hostname}:${options.port}`;
    throw new Error(
      isInUse
        ? `Cannot listen on ${address}: address already in use. Choose another ${option}`
        : `Cannot listen on ${address}: ${message}`,
      { cause },
    );
  }
}

/** A handler whose requests wait until it starts. Until then it answers health checks: alive, but not ready. */
export interface LateHandler extends FetchHandler {
  readonly isReady: boolean;
  /** Answers all requests by this handler, also those that wait. */
  start(handler: FetchHandler): void;
}

export function createLateHandler(): LateHandler {
  let handler: FetchHandler | undefined;
  const { promise: started, resolve } = Promise.withResolvers<FetchHandler>();
  return {
    get isReady() {
      return handler !== undefined;
    },
    fetch(request, context) {
      if (handler) return handler.fetch(request, context);
      // A store that is down can delay the start by many timeouts, in which a process must not count as dead.
      const path = pathOf(request.url);
      if (path === "/healthz") return respondText(200, "ok", [NO_STORE]);
      if (path === "/readyz") return respondText(503, "starting", [NO_STORE]);
      return started.then((handler) => handler.fetch(request, context));
    },
    start(given) {
      handler = given;
      resolve(given);
    },
  };
}
