/**
 * Trivet for users who live in Hattip (https://github.com/hattipjs/hattip): a Hattip handler, and a Node server through
 * `@hattip/adapter-node`. Slower than `trivet/node` (0.2 of raw `node:http` against 1.0).
 *
 * Mended here: a malformed Host field answers 400; a handler that throws answers 500 without a word of why. Not to be
 * mended from outside (adapter 0.0.49): 204 and 304 carry `content-length: 0`; HEAD answers `content-length: 0`;
 * responses are chunked; a response stream that fails ends as if it were whole; `waitUntil` does nothing.
 *
 * @module
 */
import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import { createMiddleware } from "@hattip/adapter-node";
import type { HattipHandler } from "@hattip/core";
import { closeNodeServer } from "./node_close.ts";
import {
  completeServeOptions,
  faultResponse,
  type FetchHandler,
  type RunningServer,
  type ServeOptions,
  urlOf,
} from "./server.ts";

/** The handler as any Hattip adapter takes it. */
export function toHattip(handler: FetchHandler, onError: (error: unknown) => void = () => {}): HattipHandler {
  return async (context) => {
    try {
      return await handler.fetch(context.request, {
        ip: context.ip,
        waitUntil: (promise) => context.waitUntil(promise),
      });
    } catch (error) {
      onError(error);
      return faultResponse();
    }
  };
}

/** Listens, and resolves as soon as it does. Rejects when the address cannot be had. */
export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<RunningServer> {
  const { port, hostname, closeTimeout, onError } = completeServeOptions(options);
  const middleware = createMiddleware(toHattip(handler, onError), { alwaysCallNext: false });
  const server = createServer((request: IncomingMessage, response: ServerResponse) => {
    // The adapter would throw on these, and answer 500 with a stack in the log.
    if (!URL.canParse(`http://${request.headers.host}/`)) {
      response.writeHead(400, { "content-type": "text/plain; charset=utf-8" }).end(
        "The Host field is malformed.",
      );
      return;
    }
    middleware(request as Parameters<typeof middleware>[0], response, () => response.writeHead(404).end());
  });
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => resolve());
  });
  const address = server.address() as { port: number };
  return {
    hostname,
    port: address.port,
    url: urlOf(hostname, address.port),
    close: () => closeNodeServer(server, closeTimeout),
  };
}
