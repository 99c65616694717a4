/**
 * An open event stream that goes on without the request, the response and the parser of `node:http`: they take half of the
 * memory of an idle stream. What remains is the socket.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import type { IncomingMessage, Server, ServerResponse } from "node:http";
import type { Socket } from "node:net";

/** The members of a `ServerResponse` that an event stream uses. */
export interface EventOutput {
  readonly destroyed: boolean;
  /** Returns `false` when it is full, until `drain`. */
  write(text: string): boolean;
  end(): unknown;
  destroy(): unknown;
  on(event: "close", listener: () => void): unknown;
  once(event: "drain", listener: () => void): unknown;
}

/** The `node:http` of Deno and Bun has no parser that gives a connection away. `false` too after Node refused to. */
let isSupported = !("Deno" in globalThis) && !("Bun" in globalThis);

const NOTHING = Buffer.alloc(0);

/** The rest of a response whose head is sent. */
class DetachedResponse implements EventOutput {
  readonly #socket: Socket;
  readonly #isChunked: boolean;

  constructor(socket: Socket, isChunked: boolean) {
    this.#socket = socket;
    this.#isChunked = isChunked;
  }

  get destroyed(): boolean {
    return this.#socket.destroyed;
  }

  write(text: string): boolean {
    if (!this.#isChunked) return this.#socket.write(text);
    return this.#socket.write(`${Buffer.byteLength(text).toString(16)}\r\n${text}\r\n`);
  }

  end(): void {
    if (this.#isChunked) this.#socket.write("0\r\n\r\n");
    this.#socket.destroySoon();
  }

  destroy(): void {
    this.#socket.destroy();
  }

  on(event: "close", listener: () => void): void {
    this.#socket.on(event, listener);
  }

  once(event: "drain", listener: () => void): void {
    this.#socket.once(event, listener);
  }
}

/** Whether the event stream of a response should get the connection: one of notifications stays open (MCP, all revisions). */
export function isDetachable({ method, headers }: IncomingMessage): boolean {
  return isSupported && (method === "GET" || headers["mcp-method"] === "subscriptions/listen");
}

/**
 * Takes the connection of a response from `node:http`, outside the events of its parser. The head must be written, with
 * `Connection: close`: what the client still sends is discarded. Returns `undefined` where Node keeps the
 * connection, such as for a client that has sent the next request already.
 *
 * Node gives a connection away after data of a request for an upgrade, so this request becomes one, and no data comes.
 */
export function detach(res: ServerResponse): EventOutput | undefined {
  // Node takes the socket of a request whose body was cancelled.
  const { req, socket } = res;
  if (!socket) return undefined;
  const { server } = socket as Socket & { readonly server?: Server };
  const isReady = server && req.complete && !socket.destroyed && !socket.isPaused();
  // Another listener would get the connection too.
  if (!isReady || server.listenerCount("upgrade") > 0 || isWatched(res)) return undefined;
  res.flushHeaders();
  let isTaken = false;
  const take = (): void => void (isTaken = true);
  const request = req as { upgrade?: boolean };
  server.on("upgrade", take);
  request.upgrade = true;
  try {
    socket.emit("data", NOTHING);
  } catch {
    // A version of Node that expects data. The response goes on as it was.
    isSupported = false;
  }
  request.upgrade = false;
  server.off("upgrade", take);
  if (!isTaken) return undefined;
  res.detachSocket(socket);
  socket.on("error", ignore).on("end", endSocket).resume();
  return new DetachedResponse(socket, res.chunkedEncoding);
}

/** Whether others than Node and the stream itself wait for its end: the signal of the request, or a program that traces. */
function isWatched(res: ServerResponse): boolean {
  return res.listenerCount("close") > 1 || res.listenerCount("finish") > 1;
}

/** The event `close` follows. */
function ignore(): void {}

function endSocket(this: Socket): void {
  this.destroySoon();
}
