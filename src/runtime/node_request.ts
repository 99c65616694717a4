/**
 * Requests and responses of `node:http`, and what frameworks add to them, as those of Fetch.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { Http2ServerRequest, Http2ServerResponse } from "node:http2";
import type { RequestContext } from "../http/service.ts";
import { isHost } from "./server.ts";

/** A request of a framework: Express keeps the whole path in `originalUrl`, parsers set `body`. */
export type NodeRequest = IncomingMessage & {
  readonly originalUrl?: string;
  readonly body?: unknown;
  readonly rawBody?: unknown;
};

/** The request of `node:http`, or of `node:http2`, whose compatibility API has nearly the same members. */
export type AnyNodeRequest = IncomingMessage | Http2ServerRequest;
/** The response of `node:http` or `node:http2`. */
export type AnyNodeResponse = ServerResponse | Http2ServerResponse;

export function isHttp2(req: AnyNodeRequest): req is Http2ServerRequest {
  return req.httpVersionMajor >= 2;
}

/** A class, as `ParserRequest` (`node/parser_request.ts`) says. */
export class NodeContext implements RequestContext {
  readonly #socket: { readonly remoteAddress?: string | undefined };
  readonly #onError: (error: unknown) => void;

  constructor(req: AnyNodeRequest, onError: (error: unknown) => void) {
    // After an HTTP/2 stream has closed, its request has no socket.
    this.#socket = isHttp2(req) ? { remoteAddress: req.socket?.remoteAddress } : req.socket;
    this.#onError = onError;
  }

  get ip(): string | undefined {
    return this.#socket.remoteAddress;
  }

  waitUntil(promise: Promise<unknown>): void {
    promise.catch(this.#onError);
  }
}

/** Fields of a connection of HTTP/1.1, which HTTP/2 refuses (RFC 9113 section 8.2.2). */
const CONNECTION_FIELDS: ReadonlySet<string> = new Set([
  "connection",
  "keep-alive",
  "proxy-connection",
  "transfer-encoding",
  "upgrade",
]);

/** What a `Request` is made from, its body aside; `undefined` where the Host field or the target is malformed. */
export function readHead(
  req: NodeRequest | Http2ServerRequest,
): { readonly url: string; readonly method: string; readonly headers: Headers } | undefined {
  const { method = "GET", socket, rawHeaders } = req;
  // The host of an HTTP/2 request (RFC 9113 section 8.3.1).
  const authority = isHttp2(req) ? req.headers[":authority"] : undefined;
  const given = (req as NodeRequest).originalUrl ?? req.url ?? "/";
  // RFC 9112 section 3.2.2: an absolute target replaces the Host field.
  const absolute = !isHttp2(req) && /^https?:\/\//i.test(given) ? URL.parse(given) : null;
  const named = authority ?? req.headers.host ?? `127.0.0.1:${socket?.localPort}`;
  const host = absolute?.host ?? named;
  const target = absolute ? absolute.pathname + absolute.search : given;
  const hosts = rawHeaders.filter((name, i) => i % 2 === 0 && name.toLowerCase() === "host").length;
  // A `Request` cannot have the first two methods.
  if (method === "TRACE" || method === "CONNECT" || hosts > 1 || ![host, named].every(isHost)) {
    return undefined;
  }
  if (hosts > 0 && req.headers.host !== named) return undefined;
  // Every socket of Bun has this member.
  const isSecure = (socket as { readonly encrypted?: unknown } | undefined)?.encrypted === true;
  const url = `${isSecure ? "https" : "http"}://${host}${target === "*" ? "/*" : target}`;
  if (!/^[/*]/.test(target) || !URL.canParse(url)) return undefined;
  const headers = new Headers();
  for (let i = 0; i < rawHeaders.length; i += 2) {
    if (!rawHeaders[i]!.startsWith(":")) headers.append(rawHeaders[i]!, rawHeaders[i + 1]!);
  }
  if (absolute || isHttp2(req)) headers.set("host", host);
  if (isHttp2(req)) {
    // Clients may send a field for each cookie (RFC 9113 section 8.2.3).
    if (req.headers.cookie !== undefined) headers.set("cookie", req.headers.cookie);
  }
  return { url, method, headers };
}

/** Sends a response, as fast as the client reads it. */
export async function sendResponse(
  response: Response,
  req: AnyNodeRequest,
  given: AnyNodeResponse,
): Promise<void> {
  const res = given as ServerResponse;
  const { body, headers, status } = response;
  for (const [name, value] of headers) {
    if (name !== "set-cookie" && !(isHttp2(req) && CONNECTION_FIELDS.has(name))) res.setHeader(name, value);
  }
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
  if (isHttp2(req) ? req.stream.destroyed : res.destroyed) cancel();
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
