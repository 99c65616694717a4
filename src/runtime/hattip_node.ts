/**
 * Trivet for users who live in Hattip (https://github.com/hattipjs/hattip): a Hattip handler, and a Node server through
 * `@hattip/adapter-node`. Slower than `trivet/node` (0.2 of raw `node:http` against 1.0).
 *
 * What the adapter does wrong is mended by `serve`, in `hattip_mend.ts`, and not for who takes `toHattip` to an adapter
 * of their own. Not to be mended from outside: responses are chunked, and each request pays for an `AbortSignal`.
 *
 * @module
 */
import { publicConnect } from "./connect_publicly.ts";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import { createServer, type ServerResponse } from "node:http";
import { createMiddleware } from "@hattip/adapter-node";
import type { HattipHandler } from "@hattip/core";
import { MendedResponse, mendRequest } from "./hattip_mend.ts";
import { prepareClose } from "./node_close.ts";
import {
  completeServeOptions,
  faultResponse,
  type FetchHandler,
  HEADERS_TIMEOUT,
  malformedTargetResponse,
  REQUEST_TIMEOUT,
  type RunningServer,
  type ServeOptions,
  urlOf,
} from "./server.ts";

usePublicConnect(publicConnect);

/** The handler as any Hattip adapter takes it. */
export function toHattip(handler: FetchHandler, onError: (error: unknown) => void = () => {}): HattipHandler {
  return async (context) => {
    try {
      return await handler.fetch(context.request, {
        ip: context.ip,
        // An adapter that only drops the promise would leave its rejection to end the process.
        waitUntil: (promise) => context.waitUntil(promise.catch(onError)),
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
  const server = createServer({
    ServerResponse: MendedResponse,
    headersTimeout: HEADERS_TIMEOUT,
    requestTimeout: REQUEST_TIMEOUT,
  }, (request, response) => {
    if (!mendRequest(request, response)) return void send(response, malformedTargetResponse());
    middleware(request as Parameters<typeof middleware>[0], response, (error: unknown) => {
      // The adapter comes here only when it cannot send: what has begun must not look whole.
      onError(error);
      if (response.headersSent) response.destroy();
      else void send(response, faultResponse());
    });
  });
  const close = prepareClose(server, closeTimeout);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => resolve());
  });
  const address = server.address() as { port: number };
  return {
    hostname,
    port: address.port,
    url: urlOf(hostname, address.port),
    close,
  };
}

async function send(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}
