/**
 * Serves a handler on Node, with the request and the response of `srvx`: as fast as raw `node:http`. Node's own `Request`
 * and `Response` are half as fast.
 *
 * @module
 */
import "./native_digest.ts";
import "./upload/native_bytes.ts";
import { publicConnect } from "./connect_publicly.ts";
import { useFetch } from "../http/network/default_fetch.ts";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import { once } from "node:events";
import { createServer } from "node:http";
import { createServer as createTlsServer, type Server as HttpsServer } from "node:https";
import { FastResponse } from "srvx/node";
import { useEventChannel } from "../http/event_stream.ts";
import { type ResponseConstructor, useResponse } from "../http/response.ts";
import { EventPipe } from "./node/event_pipe.ts";
import { createNodeHandler } from "./node_answer.ts";
import { prepareClose } from "./node/node_close.ts";
import { nodeFetch } from "./node/node_fetch.ts";
import {
  completeServeOptions,
  type FetchHandler,
  HEADERS_TIMEOUT_MS,
  REQUEST_TIMEOUT_MS,
  type RunningServer,
  type ServeOptions,
  urlOf,
  withoutTls,
} from "./server.ts";

export type { FetchHandler, RunningServer, ServeOptions, TlsCertificate } from "./server.ts";

usePublicConnect(publicConnect);
useFetch(nodeFetch);

/** Listens, and resolves as soon as it does. Rejects when the address is not available. */
export async function serve(handler: FetchHandler, options: ServeOptions = {}): Promise<RunningServer> {
  const { port, hostname, closeTimeout, onError, tls } = completeServeOptions(options);
  useResponse(FastResponse as unknown as ResponseConstructor);
  useEventChannel((...given) => new EventPipe(...given));
  const timeouts = { headersTimeout: HEADERS_TIMEOUT_MS, requestTimeout: REQUEST_TIMEOUT_MS };
  const answer = createNodeHandler(handler, onError);
  // The bodies of HTTP/2 requests do not come from the parser (`upload/node_upload_body.ts`), so TLS means HTTP/1.1 here.
  const http = tls
    ? createTlsServer({ ...timeouts, cert: tls.certificate, key: tls.key }, answer)
    : createServer(timeouts, answer);
  const close = prepareClose(http, closeTimeout);
  http.listen({ port, host: hostname, exclusive: true });
  await once(http, "listening");
  const address = http.address() as { port: number };
  return {
    hostname,
    port: address.port,
    url: urlOf(hostname, address.port, tls),
    close,
    async replaceCertificate({ certificate, key }) {
      if (!tls) throw withoutTls();
      (http as HttpsServer).setSecureContext({ cert: certificate, key });
    },
  };
}
