/**
 * Serves a handler on Node, with `srvx` and its fast response: as fast as raw `node:http`. Node's own `Response` is half as
 * fast.
 *
 * @module
 */
import { publicConnect } from "./connect_publicly.ts";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import type { IncomingMessage, Server } from "node:http";
import type { Server as HttpsServer } from "node:https";
import { FastResponse, serve as serveBySrvx } from "srvx/node";
import { type ResponseConstructor, useResponse } from "../http/response.ts";
import type { RequestContext } from "../http/service.ts";
import { prepareClose } from "./node_close.ts";
import { useParserBody } from "./node_upload_body.ts";
import {
  completeServeOptions,
  faultResponse,
  type FetchHandler,
  hasReadableTarget,
  HEADERS_TIMEOUT_MS,
  malformedTargetResponse,
  REQUEST_TIMEOUT_MS,
  type RunningServer,
  type ServeOptions,
  urlOf,
  withoutTls,
} from "./server.ts";

export type { FetchHandler, RunningServer, ServeOptions, TlsCertificate } from "./server.ts";

usePublicConnect(publicConnect);

/** Listens, and resolves as soon as it does. Rejects when the address is not available. */
export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<RunningServer> {
  const { port, hostname, closeTimeout, onError, tls } = completeServeOptions(options);
  useResponse(FastResponse as unknown as ResponseConstructor);
  const server = serveBySrvx({
    port,
    hostname,
    silent: true,
    gracefulShutdown: false,
    // The bodies of HTTP/2 requests do not come from the parser (`node_upload_body.ts`).
    node: { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS, http2: false },
    ...(tls && { protocol: "https", tls: { cert: tls.certificate, key: tls.key } }),
    async fetch(request) {
      // srvx marks an invalid host in the target so.
      if (!hasReadableTarget(request) || /^https?:\/\/_invalid_/.test(request.url)) {
        return malformedTargetResponse();
      }
      useParserBody(request, request.runtime!.node!.req as IncomingMessage);
      try {
        // srvx's request knows `ip` and `waitUntil` itself, and works them out only when asked.
        return await handler.fetch(request, request as RequestContext);
      } catch (error) {
        onError(error);
        return faultResponse();
      }
    },
  });
  const http = server.node!.server as Server;
  const close = prepareClose(http, closeTimeout);
  await server.ready();
  const address = http.address() as { port: number };
  return {
    hostname,
    port: address.port,
    url: urlOf(hostname, address.port, tls),
    close,
    async replaceCertificate({ certificate, key }) {
      if (!tls) throw withoutTls();
      (http as unknown as HttpsServer).setSecureContext({ cert: certificate, key });
    },
  };
}
