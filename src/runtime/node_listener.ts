/**
 * A handler as a listener of `node:http`, for servers that exist already: `http.createServer`, Express (also behind
 * `express.json()`) and Fastify. A server of its own is faster with `serve` of `trivet/node`.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import { usePublicConnect } from "../http/network/public_fetch.ts";
import type { RequestContext } from "../http/service.ts";
import { publicConnect } from "./connect_publicly.ts";
import { streamOf } from "./node_upload_body.ts";
import { faultResponse, type FetchHandler, isHost, malformedTargetResponse } from "./server.ts";

usePublicConnect(publicConnect);

/** A request of a framework: Express keeps the whole path in `originalUrl`, parsers set `body`. */
type NodeRequest = IncomingMessage & {
  readonly originalUrl?: string;
  readonly body?: unknown;
  readonly rawBody?: unknown;
};

/** The request of Fastify, whose `raw` is Node's. */
interface FastifyRequest {
  readonly raw: IncomingMessage;
  readonly body?: unknown;
}

/** The reply of Fastify. */
interface FastifyReply {
  readonly raw: ServerResponse;
  hijack(): unknown;
}

/** Takes the request and response of Node or Express, or the request and reply of Fastify. Resolves when all is sent. */
export type NodeListener = (
  request: IncomingMessage | FastifyRequest,
  response: ServerResponse | FastifyReply,
) => Promise<void>;

/**
 * The handler as a listener. Paths are matched as the client sent them: below a prefix, give the issuer the same path, and
 * mount the listener at `/.well-known` too, where the metadata of such an issuer is.
 *
 * ```ts
 * http.createServer(toNodeListener(trivet));
 * app.use(toNodeListener(trivet)); // Express, before or behind express.json()
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
      return await answer(raw, reply.raw, body);
    }
    await answer(given as NodeRequest, reply, (given as NodeRequest).body);
  };

  async function answer(req: NodeRequest, res: ServerResponse, parsed: unknown): Promise<void> {
    const aborted = new AbortController();
    res.once("close", () => res.writableFinished || aborted.abort());
    try {
      const request = toRequest(req, parsed, aborted.signal);
      const response = request
        ? await handler.fetch(request, toContext(req, onError))
        : malformedTargetResponse();
      await send(response, req, res);
    } catch (error) {
      if (!aborted.signal.aborted) onError(error);
      if (res.headersSent) res.destroy();
      else await send(faultResponse(), req, res);
    }
  }
}

function toContext({ socket }: IncomingMessage, onError: (error: unknown) => void): RequestContext {
  return {
    get ip() {
      return socket.remoteAddress;
    },
    waitUntil: (promise) => void promise.catch(onError),
  };
}

/** `undefined` where the Host field or the target is malformed. */
function toRequest(req: NodeRequest, parsed: unknown, signal: AbortSignal): Request | undefined {
  const { method = "GET", socket, rawHeaders } = req;
  const host = req.headers.host ?? `127.0.0.1:${socket.localPort}`;
  const target = req.originalUrl ?? req.url ?? "/";
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host").length;
  // A `Request` cannot have the first two methods.
  if (method === "TRACE" || method === "CONNECT" || hosts > 1 || !isHost(host)) return undefined;
  const url = `${"encrypted" in socket ? "https" : "http"}://${host}${target === "*" ? "/*" : target}`;
  if (!/^[/*]/.test(target) || !URL.canParse(url)) return undefined;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  const hasBody = method !== "GET" && method !== "HEAD" &&
    (req.headers["content-length"] !== undefined || req.headers["transfer-encoding"] !== undefined) &&
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

async function send(response: Response, req: IncomingMessage, res: ServerResponse): Promise<void> {
  const { body, headers, status } = response;
  for (const [name, value] of headers) if (name !== "set-cookie") res.setHeader(name, value);
  const cookies = headers.getSetCookie();
  if (cookies.length > 0) res.setHeader("set-cookie", cookies);
  res.writeHead(status);
  if (!body || req.method === "HEAD") {
    await body?.cancel();
    return void res.end();
  }
  // Streams begin with their header fields, not with the first event.
  res.flushHeaders();
  const reader = body.getReader();
  const cancel = () => void reader.cancel().catch(() => {});
  res.once("close", cancel);
  if (res.destroyed) cancel();
  for (let piece = await reader.read(); !piece.done; piece = await reader.read()) {
    if (!res.write(Buffer.from(piece.value.buffer, piece.value.byteOffset, piece.value.length))) {
      await new Promise<void>((resolve) => {
        const go = (): void => {
          res.off("drain", go).off("close", go);
          resolve();
        };
        res.once("drain", go).once("close", go);
      });
    }
  }
  res.end();
}
