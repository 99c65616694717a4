/**
 * Serves a handler on Bun, by `Bun.serve`.
 *
 * @module
 */
import "./native_digest.ts";
import "./upload/native_bytes.ts";
import { useByteBody } from "./upload/bun_upload_body.ts";
import { publicConnect } from "./connect_publicly.ts";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import {
  closeAfter,
  completeServeOptions,
  EndingServers,
  faultResponse,
  type FetchHandler,
  hasReadableTarget,
  listenAgain,
  malformedTargetResponse,
  type RunningServer,
  type ServeOptions,
  type TlsCertificate,
  urlOf,
  withoutTls,
} from "./server.ts";

export type { FetchHandler, RunningServer, ServeOptions, TlsCertificate } from "./server.ts";

usePublicConnect(publicConnect);

/** The part of Bun that is used. With its whole types, a use in another file would go unnoticed. */
interface BunServer {
  readonly port: number;
  requestIP(request: Request): { readonly address: string } | null;
  stop(closeActiveConnections: boolean): Promise<void>;
}

interface BunNamespace {
  serve(options: {
    readonly tls?: { readonly cert: string; readonly key: string };
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
  const { port, hostname, closeTimeout, onError, tls } = completeServeOptions(options);
  const { Bun } = globalThis as unknown as { Bun: BunNamespace };
  // With those of earlier certificates, whose requests go on.
  const ending = new EndingServers<BunServer>();
  const listen = (at: number, certificate: TlsCertificate | undefined): BunServer =>
    Bun.serve({
      ...(certificate && { tls: { cert: certificate.certificate, key: certificate.key } }),
      port: at,
      hostname,
      idleTimeout: IDLE_TIMEOUT_SECONDS,
      development: false,
      // Otherwise Bun shares a port that is in use: two servers would answer in turn, unnoticed.
      reusePort: false,
      fetch(received, server) {
        const request = withAddress(received);
        if (!hasReadableTarget(request)) return malformedTargetResponse();
        useByteBody(request);
        const answer = handler.fetch(request, {
          isBodyBuffered: true,
          get ip() {
            return server.requestIP(received)?.address;
          },
        });
        const finish = (response: Response) => ending.has(server) ? closeAfter(response) : response;
        return answer instanceof Promise ? answer.then(finish) : finish(answer);
      },
      error(error) {
        onError(error);
        return faultResponse();
      },
    });
  let server = listen(port, tls);
  const bound = server.port;
  return {
    hostname,
    port: bound,
    url: urlOf(hostname, bound, tls),
    async close() {
      ending.add(server, server.stop(false));
      for (const late of await ending.wait(closeTimeout)) await late.stop(true);
    },
    async replaceCertificate(certificate) {
      if (!tls) throw withoutTls();
      // Throws for a certificate that cannot be used, while the server still has the other one.
      await listen(0, certificate).stop(true);
      ending.add(server, server.stop(false));
      server = await listenAgain(() => listen(bound, certificate));
    },
  };
}

/** A request of HTTP/1.0 needs no Host, as those of load balancers that check a server. On Bun its URL is a path then. */
function withAddress(request: Request): Request {
  if (request.headers.has("host") || !request.url.startsWith("/")) return request;
  return new Request(`http://localhost${request.url}`, request);
}
