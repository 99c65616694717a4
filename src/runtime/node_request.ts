/**
 * Requests and responses of `node:http`, and what frameworks add to them, as those of Fetch.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import type { RequestContext } from "../http/service.ts";
import { isHost } from "./server.ts";

/** A request of a framework: Express keeps the whole path in `originalUrl`, parsers set `body`. */
export type NodeRequest = IncomingMessage & {
  readonly originalUrl?: string;
  readonly body?: unknown;
  readonly rawBody?: unknown;
};

/** A class, as `ParserRequest` (`node/parser_request.ts`) says. */
export class NodeContext implements RequestContext {
  readonly #socket: IncomingMessage["socket"];
  readonly #onError: (error: unknown) => void;

  constructor({ socket }: IncomingMessage, onError: (error: unknown) => void) {
    this.#socket = socket;
    this.#onError = onError;
  }

  get ip(): string | undefined {
    return this.#socket.remoteAddress;
  }

  waitUntil(promise: Promise<unknown>): void {
    promise.catch(this.#onError);
  }
}

/** What a `Request` is made from, its body aside; `undefined` where the Host field or the target is malformed. */
export function readHead(
  req: NodeRequest,
): { readonly url: string; readonly method: string; readonly headers: Headers } | undefined {
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
  return { url, method, headers };
}

/** Sends a response, as fast as the client reads it. */
export async function sendResponse(
  response: Response,
  req: IncomingMessage,
  res: ServerResponse,
): Promise<void> {
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
