/**
 * Serves a handler on Deno, with `Deno.serve`. Deno 2.9 has no timeout for header fields, and no option for one: put a
 * proxy in front of a public server. When the body of a request comes after its header fields, Deno 2.9 does not abort the
 * signal of the request as its client disconnects: a tool call without a stream then runs to its end.
 *
 * @module
 */
import "./upload/native_bytes.ts";
import { publicConnect } from "./connect_publicly.ts";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import {
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

/** The part of Deno that is used. With its whole types, a use in another file would go unnoticed. */
interface DenoServer {
  readonly addr: { readonly port: number };
  shutdown(): Promise<void>;
  unref(): void;
}

interface DenoNamespace {
  serve(options: {
    readonly cert?: string;
    readonly key?: string;
    readonly port: number;
    readonly hostname: string;
    readonly onListen: () => void;
    readonly onError: (error: unknown) => Response;
    readonly handler: (
      request: Request,
      info: { readonly remoteAddr: { readonly hostname?: string } },
    ) => Promise<Response> | Response;
  }): DenoServer;
}

/** Listens, and resolves as soon as it does. Rejects when the address is not available. */
export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<RunningServer> {
  const { port, hostname, closeTimeout, onError, tls } = completeServeOptions(options);
  const { Deno } = globalThis as unknown as { Deno: DenoNamespace };
  const listen = (at: number, certificate: TlsCertificate | undefined): DenoServer =>
    Deno.serve({
      ...(certificate && { cert: certificate.certificate, key: certificate.key }),
      port: at,
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
  // With those of earlier certificates, whose requests go on.
  const ending = new EndingServers<DenoServer>();
  let server = listen(port, tls);
  const bound = server.addr.port;
  return {
    hostname,
    port: bound,
    url: urlOf(hostname, bound, tls),
    async close() {
      ending.add(server, server.shutdown());
      // Late requests end with the process: an abort during a shutdown throws outside of any handler (Deno 2.9).
      for (const late of await ending.wait(closeTimeout)) late.unref();
    },
    async replaceCertificate(certificate) {
      if (!tls) throw withoutTls();
      // Throws for a certificate that cannot be used, while the server still has the other one.
      await listen(0, certificate).shutdown();
      ending.add(server, server.shutdown());
      server = await listenAgain(() => listen(bound, certificate));
    },
  };
}
