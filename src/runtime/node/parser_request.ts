/**
 * The request of a server on Node: that of `srvx`, with a body that is read from the parser.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import { NodeRequest } from "srvx/node";
import { ByteBuffer } from "../../http/body/byte_buffer.ts";
import { streamOf } from "../upload/node_upload_body.ts";

/** A body that declares at most so many bytes is read at once, which is fastest. */
const MAX_SMALL_BODY_BYTES = 64 * 1024;

/** The URL of the last request: most of those after it have the same target and host. To make one is 1.6 % of a tool call. */
let last: {
  readonly target?: string | undefined;
  readonly host: string;
  readonly isSecure: boolean;
  readonly url: string;
} = { host: "", isSecure: false, url: "" };

/**
 * A request of `srvx` whose body is that of {@linkcode streamOf}, or, when the client declares a small one, is read at once.
 *
 * A class, not members added to each request: V8 keeps a closure that is added to an object, and all that it refers to,
 * until the next full collection. That was 3.2 of the 15.5 kB of a tool call, and a fifth of its processor time.
 */
export class ParserRequest extends NodeRequest {
  readonly #req: IncomingMessage;
  #body: ReadableStream<Uint8Array<ArrayBuffer>> | undefined;

  constructor(context: ConstructorParameters<typeof NodeRequest>[0]) {
    super(context);
    this.#req = context.req as IncomingMessage;
  }

  override get url(): string {
    const { url: target, headers: { host }, socket } = this.#req;
    if (host === undefined) return super.url;
    const isSecure = "encrypted" in socket;
    if (target !== last.target || host !== last.host || isSecure !== last.isSecure) {
      last = { target, host, isSecure, url: super.url };
    }
    return last.url;
  }

  override bytes(): Promise<Uint8Array<ArrayBuffer>> {
    const isDeclared = this.#req.headers["content-length"] !== undefined;
    return isDeclared && isReadAtOnce(this.#req) ? readSmall(this.#req) : super.bytes();
  }

  override get body(): ReadableStream<Uint8Array<ArrayBuffer>> | null {
    // Most requests without a declared length have no body.
    return isReadAtOnce(this.#req)
      ? super.body
      : this.#body ??= streamOf(this.#req) as ReadableStream<Uint8Array<ArrayBuffer>>;
  }
}

function isReadAtOnce({ headers }: IncomingMessage): boolean {
  return headers["transfer-encoding"] === undefined &&
    !(Number(headers["content-length"]) > MAX_SMALL_BODY_BYTES) &&
    !headers["content-type"]?.startsWith("multipart/");
}

/** Reads the whole body from the parser. Except for `text()`, `srvx` would create a stream first. */
function readSmall(req: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    if (req.readableEnded || req.destroyed) {
      return reject(new Error("The body was already read, or the connection is closed"));
    }
    let only: Uint8Array<ArrayBuffer> | undefined;
    let more: ByteBuffer | undefined;
    // The listeners live as long as the connection, which may become an open stream: they must not hold the body.
    let settle: { resolve: typeof resolve; reject: typeof reject } | undefined = { resolve, reject };
    req.on("data", (chunk: Uint8Array<ArrayBuffer>) => {
      if (only === undefined) only = chunk;
      else {
        if (!more) (more = new ByteBuffer()).append(only);
        more.append(chunk);
      }
    });
    req.on("end", () => {
      settle?.resolve(more?.take() ?? only ?? new Uint8Array());
      settle = only = more = undefined;
    });
    req.on("error", (error) => settle?.reject(error));
    // Created only when needed: every request closes, and an error captures its stack.
    req.on("close", () => settle?.reject(new Error("The connection was closed")));
  });
}
