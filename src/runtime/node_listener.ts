/**
 * A handler as a listener of `node:http` and `node:http2`, for servers that exist already: `http.createServer`, Express
 * (also behind `express.json()`) and Fastify. A server of its own is faster with `serve` of `trivet/node`.
 *
 * @module
 */
import { useFetch } from "../http/network/default_fetch.ts";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import "./native_digest.ts";
import "./upload/native_bytes.ts";
import { publicConnect } from "./connect_publicly.ts";
import { nodeFetch } from "./node/node_fetch.ts";
import { streamOf } from "./upload/node_upload_body.ts";
import {
  type AnyNodeRequest,
  type AnyNodeResponse,
  isHttp2,
  NodeContext,
  type NodeRequest,
  readHead,
  sendResponse,
} from "./node_request.ts";
import { faultResponse, type FetchHandler, malformedTargetResponse } from "./server.ts";

usePublicConnect(publicConnect);
// The `fetch` of Deno and Bun is better than their `node:http`.
if (!("Deno" in globalThis) && !("Bun" in globalThis)) useFetch(nodeFetch);

/** The request of Fastify, whose `raw` is Node's. */
interface FastifyRequest {
  readonly raw: AnyNodeRequest;
  readonly body?: unknown;
}

/** The reply of Fastify. */
interface FastifyReply {
  readonly raw: AnyNodeResponse;
  hijack(): unknown;
}

/** Takes the request and response of Node (HTTP/1.1 or HTTP/2) or Express, or the request and reply of Fastify. Resolves when all is sent. */
export type NodeListener = (
  request: AnyNodeRequest | FastifyRequest,
  response: AnyNodeResponse | FastifyReply,
) => Promise<void>;

/**
 * The handler as a listener. Paths are matched as the client sent them: below a prefix, give the issuer the same path, and
 * mount the listener at `/.well-known` too, where the metadata of such an issuer is.
 *
 * ```ts
 * http.createServer(toNodeListener(trivet));
 * // Express: after your own routes, since it answers every path; before or after express.json()
 * app.use(toNodeListener(trivet));
 * fastify.register(async (scope) => {
 *   scope.removeAllContentTypeParsers();
 *   scope.addContentTypeParser("*", async () => {});
 *   scope.all("/*", toNodeListener(trivet));
 * });
 * ```
 * Fastify refuses media types without a parser: the one for `*` leaves the body to the handler.
 * @param onError receives what the handler throws; the client receives only a 500
 */
export function toNodeListener(
  handler: FetchHandler,
  onError: (error: unknown) => void = () => {},
): NodeListener {
  return async (given, reply) => {
    if ("hijack" in reply) {
      reply.hijack();
      const { raw, body } = given as FastifyRequest;
      return await answer(raw as NodeRequest, reply.raw, body);
    }
    await answer(given as NodeRequest, reply, (given as NodeRequest).body);
  };

  async function answer(req: NodeRequest, res: AnyNodeResponse, parsed: unknown): Promise<void> {
    const aborted = new AbortController();
    // A reset HTTP/2 stream is finished, but was not ended.
    res.once("close", () => res.writableEnded && res.writableFinished || aborted.abort());
    let request: Request | undefined;
    try {
      request = toRequest(req, parsed, aborted.signal);
      const response = request
        ? await handler.fetch(request, new NodeContext(req, onError))
        : malformedTargetResponse();
      await sendResponse(response, req, res);
    } catch (error) {
      if (!aborted.signal.aborted) onError(error);
      if (res.headersSent) cut(req, res);
      else await sendResponse(faultResponse(), req, res);
    } finally {
      // Node discards an unread body only before a stream is made from it: the next request of the connection would wait.
      if (request?.body?.locked === false) request.body.cancel().catch(() => {});
    }
  }
}

/** Ends a response that began, so that the client sees it as incomplete. */
function cut(req: AnyNodeRequest, res: AnyNodeResponse): void {
  if (isHttp2(req)) req.stream.destroy(new Error("The response failed"));
  else (res as Exclude<typeof res, { readonly stream: unknown }>).destroy();
}

/** `undefined` where the Host field or the target is malformed. */
function toRequest(req: NodeRequest, parsed: unknown, signal: AbortSignal): Request | undefined {
  const head = readHead(req);
  if (!head) return undefined;
  const { url, method, headers } = head;
  const hasBody = method !== "GET" && method !== "HEAD" &&
    (isHttp2(req)
      ? !req.stream.endAfterHeaders
      : req.headers["content-length"] !== undefined || req.headers["transfer-encoding"] !== undefined) &&
    // A parser has reached the end of an empty body, whose stream gives no more events.
    !(req.readableEnded && !req.readableDidRead);
  if (!hasBody) return new Request(url, { method, headers, signal });
  if (!req.readableDidRead) {
    const init = { method, headers, signal, body: streamOf(req), duplex: "half" };
    return new Request(url, init as RequestInit);
  }
  // The parser removed the content encoding, and the restored body can have another length.
  for (const name of ["content-length", "content-encoding", "transfer-encoding"]) headers.delete(name);
  return new Request(url, { method, headers, signal, body: restoreBody(req, parsed) });
}

/** The body that a parser consumed. @throws {TypeError} when it cannot be restored */
function restoreBody({ headers, rawBody }: NodeRequest, parsed: unknown): BodyInit {
  for (const value of [rawBody, parsed]) {
    if (typeof value === "string") return value;
    if (value instanceof Uint8Array) return new Uint8Array(value);
  }
  const type = headers["content-type"] ?? "";
  if (/^application\/(?:[^;\s]+\+)?json\b/i.test(type)) return JSON.stringify(parsed);
  if (/^application\/x-www-form-urlencoded\b/i.test(type) && typeof parsed === "object" && parsed !== null) {
    const form = new URLSearchParams();
    // A repeated parameter is a list here, and must be refused as a repeated one.
    for (const [name, value] of Object.entries(parsed)) {
      for (const each of Array.isArray(value) ? value : [value]) form.append(name, String(each));
    }
    return form.toString();
  }
  throw new TypeError(`The ${type} body was already consumed: mount the listener before its parser`);
}

export { type NodeGuard, type NodeGuardRequest, toNodeGuard } from "./node_guard.ts";
export type { AnyNodeRequest, AnyNodeResponse } from "./node_request.ts";
