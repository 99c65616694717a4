/**
 * Serves a handler on Node, through `srvx` with its fast response: as quick as raw `node:http`, where Node's own
 * `Response` takes half of it.
 *
 * @module
 */
import type { Server } from "node:http";
import { FastResponse, serve as serveBySrvx } from "srvx/node";
import { type ResponseConstructor, useResponse } from "../http/response.ts";
import type { RequestContext } from "../http/service.ts";
import { closeNodeServer } from "./node_close.ts";
import {
  completeServeOptions,
  faultResponse,
  type FetchHandler,
  malformedHostResponse,
  type RunningServer,
  type ServeOptions,
  urlOf,
} from "./server.ts";

/** A client has this long to send its header fields, and its whole request, in milliseconds. */
const HEADERS_TIMEOUT = 15_000;
const REQUEST_TIMEOUT = 120_000;

/** Listens, and resolves as soon as it does. Rejects when the address cannot be had. */
export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<RunningServer> {
  const { port, hostname, closeTimeout, onError } = completeServeOptions(options);
  useResponse(FastResponse as unknown as ResponseConstructor);
  const server = serveBySrvx({
    port,
    hostname,
    silent: true,
    gracefulShutdown: false,
    node: { headersTimeout: HEADERS_TIMEOUT, requestTimeout: REQUEST_TIMEOUT },
    async fetch(request) {
      // RFC 9112 §3.2: a Host field that is no host.
      if (request.url.startsWith("http://_invalid_")) {
        return malformedHostResponse();
      }
      try {
        // srvx's request knows `ip` and `waitUntil` itself, and works them out only when asked.
        return await handler.fetch(request, request as RequestContext);
      } catch (error) {
        onError(error);
        return faultResponse();
      }
    },
  });
  await server.ready();
  const http = server.node!.server as Server;
  const address = http.address() as { port: number };
  return {
    hostname,
    port: address.port,
    url: urlOf(hostname, address.port),
    close: () => closeNodeServer(http, closeTimeout),
  };
}
