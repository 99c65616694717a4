/**
 * Serves a handler on Deno, with `Deno.serve`. Deno 2.9 has no timeout for header fields, and no option for one: put a
 * proxy in front of a public server.
 *
 * @module
 */
import { publicConnect } from "./connect_publicly.ts";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import {
  completeServeOptions,
  faultResponse,
  type FetchHandler,
  hasReadableTarget,
  malformedTargetResponse,
  type RunningServer,
  type ServeOptions,
  urlOf,
  within,
} from "./server.ts";

export type { FetchHandler, RunningServer, ServeOptions } from "./server.ts";

usePublicConnect(publicConnect);

/** The part of Deno that is used. With its whole types, a use in another file would go unnoticed. */
interface DenoNamespace {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly onListen: () => void;
    readonly onError: (error: unknown) => Response;
    readonly handler: (
      request: Request,
      info: { readonly remoteAddr: { readonly hostname?: string } },
    ) => Promise<Response> | Response;
  }): { readonly addr: { readonly port: number }; shutdown(): Promise<void>; unref(): void };
}

/** Listens, and resolves as soon as it does. Rejects when the address is not available. */
export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<RunningServer> {
  const { port, hostname, closeTimeout, onError } = completeServeOptions(options);
  const { Deno } = globalThis as unknown as { Deno: DenoNamespace };
  const server = Deno.serve({
    port,
    hostname,
    onListen: () => {},
    onError(error) {
      onError(error);
      return faultResponse();
    },
    handler(request, info) {
      if (!hasReadableTarget(request)) return malformedTargetResponse();
      return handler.fetch(request, { ip: info.remoteAddr.hostname });
    },
  });
  return {
    hostname,
    port: server.addr.port,
    url: urlOf(hostname, server.addr.port),
    async close() {
      // Late requests end with the process: an abort during a shutdown throws outside of any handler (Deno 2.9).
      if (await within(closeTimeout, server.shutdown()) === "late") server.unref();
    },
  };
}
