/**
 * Answers a request of `node:http` with a fetch handler: `srvx` makes the `Request`, `sendAtOnce` sends what is no stream
 * in one write, and the responses of one turn of the event loop are sent together.
 *
 * @module
 */
import type { IncomingMessage, ServerResponse } from "node:http";
import { FastResponse, sendNodeResponse } from "srvx/node";
import type { RequestContext } from "../http/service.ts";
import { isDetachable } from "./node/detached_response.ts";
import { EventResponse } from "./node/event_pipe.ts";
import { isLastResponse } from "./node/node_close.ts";
import { ParserRequest } from "./node/parser_request.ts";
import { createResponseQueue } from "./node/response_queue.ts";
import { faultResponse, type FetchHandler, hasReadableTarget, malformedTargetResponse } from "./server.ts";

type NodeHandler = (req: IncomingMessage, res: ServerResponse) => void;
/** A response of `FastResponse`, ready for Node. */
type Prepared = ReturnType<InstanceType<typeof FastResponse>["_toNodeResponse"]>;

/** Creates the listener of a server. @param onError receives what the handler throws; the client gets only a 500 */
export function createNodeHandler(handler: FetchHandler, onError: (error: unknown) => void): NodeHandler {
  const waitUntil = (work: Promise<unknown>): void => void work.catch(onError);
  // Nearly every request has the Host field of the one before, and then only the path is new, which any URL can have.
  let knownHost: string | null = null;
  const isTarget = (req: IncomingMessage, request: Request): boolean => {
    // Not that of `req`, which is the first of two Host fields.
    const host = request.headers.get("host");
    if (host !== null && host === knownHost && req.url?.startsWith("/")) return true;
    // srvx marks an invalid host in the target so.
    const isValid = isReadable(req.url) && hasReadableTarget(request) &&
      !/^https?:\/\/_invalid_/.test(request.url);
    if (isValid) knownHost = host;
    return isValid;
  };
  const sendInTurn = createResponseQueue((res, response) => sendAtOnce(res, response, onError));
  return (req, res) => {
    const request = new ParserRequest({ req, res });
    const send = (response: Response): void => sendInTurn(res, response);
    const fail = (error: unknown): void => {
      onError(error);
      send(faultResponse());
    };
    if (!isTarget(req, request)) return send(malformedTargetResponse());
    request.waitUntil = waitUntil;
    try {
      // srvx's request knows `ip` and `waitUntil` itself, and computes the address only when asked.
      const answer = handler.fetch(request, request as RequestContext);
      if (answer instanceof Promise) answer.then(send, fail);
      else send(answer);
    } catch (error) {
      fail(error);
    }
  };
}

/** Whether the target is a path, `*`, or an absolute http URL with a host (RFC 9112 section 3.2). */
function isReadable(target: string = "/"): boolean {
  if (target.startsWith("/") || target === "*") return true;
  const url = URL.parse(target);
  return url !== null && /^https?:$/.test(url.protocol) && url.host !== "";
}

/**
 * Sends the response. The header fields and a body that is a string go out in one piece: `srvx` writes the body and then
 * ends the response, for which Node makes a second piece and the slower `writev`. That took a fifth of the processor time of
 * a token request.
 */
function sendAtOnce(res: ServerResponse, response: Response, onError: (error: unknown) => void): void {
  try {
    // Else the next request could arrive as the connection is closed, and be lost (RFC 9112 section 9.6).
    if (isLastResponse(res)) res.shouldKeepAlive = false;
    if (!("_toNodeResponse" in response)) return void sendNodeResponse(res, response).catch(fail);
    const prepared = (response._toNodeResponse as () => Prepared)();
    const { status, headers, body } = prepared;
    if (typeof body === "string") res.writeHead(status, headers).end(body);
    else if (response instanceof EventResponse) {
      if (response.events) {
        const isDetached = isDetachable(res.req);
        if (isDetached) res.shouldKeepAlive = false;
        response.events.pipe(res.writeHead(status, headers), isDetached);
      } else sendPrepared({ ...prepared, body: response.body });
    } else if (body === undefined || body === null) res.writeHead(status, headers).end();
    else sendPrepared(prepared);
  } catch (error) {
    fail(error);
  }

  function sendPrepared(prepared: Prepared): void {
    const ready = { _toNodeResponse: () => prepared } as InstanceType<typeof FastResponse>;
    sendNodeResponse(res, ready).catch(fail);
  }

  function fail(error: unknown): void {
    onError(error);
    if (res.headersSent) res.destroy();
    else res.writeHead(500).end();
  }
}
