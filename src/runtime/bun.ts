/**
 * Serves a handler on Bun, by `Bun.serve`.
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

/** The part of Bun that is used. With its whole types, a use in another file would go unnoticed. */
interface BunServer {
  readonly port: number;
  requestIP(request: Request): { readonly address: string } | null;
  stop(closeActiveConnections: boolean): Promise<void>;
}

interface BunNamespace {
  serve(options: {
    readonly port: number;
    readonly hostname: string;
    readonly idleTimeout: number;
    readonly development: false;
    readonly reusePort: false;
    readonly fetch: (request: Request, server: BunServer) => Promise<Response> | Response;
    readonly error: (error: unknown) => Response;
  }): BunServer;
}

/** A connection without a byte for so long is closed. Longer than the pause between keep-alive comments. */
const IDLE_TIMEOUT_SECONDS = 120;

/** Listens, and resolves as soon as it does. Rejects when the address is not available. */
export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<RunningServer> {
  const { port, hostname, closeTimeout, onError } = completeServeOptions(options);
  const { Bun } = globalThis as unknown as { Bun: BunNamespace };
  const server = Bun.serve({
    port,
    hostname,
    idleTimeout: IDLE_TIMEOUT_SECONDS,
    development: false,
    // Otherwise Bun shares a port that is in use: two servers would answer in turn, unnoticed.
    reusePort: false,
    fetch(request, server) {
      if (!hasReadableTarget(request)) return malformedTargetResponse();
      return handler.fetch(request, {
        isBodyBuffered: true,
        get ip() {
          return server.requestIP(request)?.address;
        },
      });
    },
    error(error) {
      onError(error);
      return faultResponse();
    },
  });
  return {
    hostname,
    port: server.port,
    url: urlOf(hostname, server.port),
    async close() {
      if (await within(closeTimeout, server.stop(false)) === "late") await server.stop(true);
    },
  };
}
