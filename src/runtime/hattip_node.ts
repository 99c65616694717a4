/**
 * Trivet for users of Hattip (https://github.com/hattipjs/hattip): a Hattip handler, and a Node server with
 * `@hattip/adapter-node`. Slower than `trivet/node` (0.2 of raw `node:http` against 1.0).
 *
 * `serve` works around defects of the adapter (`hattip_workarounds.ts`); `toHattip` with another adapter does not. Without
 * a workaround: responses are chunked, and each request creates an `AbortSignal`.
 *
 * @module
 */
import "./native_digest.ts";
import "./upload/native_bytes.ts";
import { publicConnect } from "./connect_publicly.ts";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import { createServer, type IncomingMessage, type RequestListener, type ServerResponse } from "node:http";
import { createServer as createSecureServer } from "node:https";
import { createMiddleware, type NodePlatformInfo } from "@hattip/adapter-node";
import type { HattipHandler } from "@hattip/core";
import { FixedResponse, fixRequest } from "./hattip_workarounds.ts";
import { isLastResponse, prepareClose } from "./node/node_close.ts";
import {
  closeAfter,
  completeServeOptions,
  faultResponse,
  type FetchHandler,
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

/** The handler in the form of any Hattip adapter. */
export function toHattip(handler: FetchHandler, onError: (error: unknown) => void = () => {}): HattipHandler {
  return async (context) => {
    try {
      return await handler.fetch(context.request, {
        ip: context.ip,
        // With an adapter that ignores the promise, a rejection would end the process.
        waitUntil: (promise) => context.waitUntil(promise.catch(onError)),
      });
    } catch (error) {
      onError(error);
      return faultResponse();
    }
  };
}

/** Listens, and resolves as soon as it does. Rejects when the address is not available. */
export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<RunningServer> {
  const { port, hostname, closeTimeout, onError, tls } = completeServeOptions(options);
  const answer = toHattip(handler, onError);
  const middleware = createMiddleware(async (context) => {
    const response = await answer(context) as Response;
    return isLastResponse((context.platform as NodePlatformInfo).response) ? closeAfter(response) : response;
  }, { alwaysCallNext: false });
  const settings = {
    ServerResponse: FixedResponse,
    headersTimeout: HEADERS_TIMEOUT_MS,
    requestTimeout: REQUEST_TIMEOUT_MS,
    // As the other entries: without it Node drops a second Authorization or Host field.
    joinDuplicateHeaders: true,
  };
  const listener: RequestListener<typeof IncomingMessage, typeof FixedResponse> = (request, response) => {
    if (!fixRequest(request, response)) return void send(response, malformedTargetResponse());
    middleware(request as Parameters<typeof middleware>[0], response, (error: unknown) => {
      // The adapter calls this when it cannot send: a response that has begun must not look complete.
      onError(error);
      if (response.headersSent) response.destroy();
      else void send(response, faultResponse());
    });
  };
  const secure = tls && createSecureServer({ ...settings, cert: tls.certificate, key: tls.key }, listener);
  const server = secure ?? createServer(settings, listener);
  const close = prepareClose(server, closeTimeout);
  await new Promise<void>((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, hostname, () => resolve());
  });
  const address = server.address() as { port: number };
  return {
    hostname,
    port: address.port,
    url: urlOf(hostname, address.port, tls),
    close,
    async replaceCertificate({ certificate, key }) {
      if (!secure) throw withoutTls();
      secure.setSecureContext({ cert: certificate, key });
    },
  };
}

async function send(response: ServerResponse, answer: Response): Promise<void> {
  response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text());
}
