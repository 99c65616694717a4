/**
 * Workarounds for defects of `@hattip/adapter-node` 0.0.49, in the requests and responses that it gets:
 *
 * - it writes `content-length: 0` on 204, 304 and HEAD;
 * - it concatenates Host and target without a check, and throws for some;
 * - it treats the end of an upload as the end of the connection;
 * - it leaves a body that the handler did not read, behind which the next request of the connection waits;
 * - its body, an iterator over the request, ends the process when it is cancelled during a read.
 *
 * @module
 */
import { IncomingMessage, ServerResponse } from "node:http";
import { isHost } from "./server.ts";

/** Leaves out Content-Length: 0 on a response without content (RFC 9110 section 8.6 forbids it on 204). */
export class FixedResponse extends ServerResponse {
  override setHeader(name: string, value: number | string | readonly string[]): this {
    const bodiless = this.statusCode === 204 || this.statusCode === 304 || this.req.method === "HEAD";
    if (bodiless && value === "0" && name === "content-length") return this;
    return super.setHeader(name, value);
  }
}

/** Changes a request in place. Returns `false` for a request without a valid target, which must not be served. */
export function fixRequest(request: IncomingMessage, response: ServerResponse): boolean {
  if (!fixTarget(request)) return false;
  const once = (event: string | symbol, listener: (...values: unknown[]) => void): IncomingMessage => {
    // The adapter waits for the end of the connection, but a request closes when its body has been read.
    if (event === "close") response.once(event, listener);
    else IncomingMessage.prototype.once.call(request, event, listener);
    return request;
  };
  const body = createBody(request);
  response.once("finish", () => {
    if (body?.locked === false) body.cancel().catch(() => {});
  });
  Object.assign(request, { rawBody: body, once });
  return true;
}

function fixTarget(request: IncomingMessage): boolean {
  const { headers, method, socket, url = "/" } = request;
  // A `Request` cannot have this method.
  if (method === "TRACE" || headers.host !== undefined && !isHost(headers.host)) return false;
  // HTTP/1.0 needs no Host.
  headers.host ??= `127.0.0.1:${socket.localPort}`;
  if (url.startsWith("/")) return true;
  if (url === "*") {
    request.url = "/*";
    return true;
  }
  // RFC 9112 section 3.2.2: an absolute target replaces the Host field.
  const target = URL.canParse(url) ? new URL(url) : undefined;
  if (!target || !/^https?:$/.test(target.protocol) || !isHost(target.host)) return false;
  headers.host = target.host;
  request.url = target.pathname + target.search;
  return true;
}

function createBody(request: IncomingMessage): ReadableStream<Uint8Array> | null {
  const { "content-length": length, "transfer-encoding": coding } = request.headers;
  if (length === undefined && coding === undefined) return null;
  let open = true;
  return new ReadableStream({
    start(controller) {
      const settle = (act: () => void): void => {
        if (open) act();
        open = false;
      };
      request.on("data", (chunk: Uint8Array) => {
        if (!open) return;
        controller.enqueue(new Uint8Array(chunk));
        if ((controller.desiredSize ?? 0) <= 0) request.pause();
      });
      request.on("end", () => settle(() => controller.close()));
      for (const event of ["error", "close"]) {
        request.on(
          event,
          () => settle(() => controller.error(new Error("The client closed the connection"))),
        );
      }
    },
    pull() {
      request.resume();
    },
    cancel() {
      open = false;
      request.resume();
    },
  });
}
