/**
 * The body of a request on Node, as a byte stream: its reader may give the memory of a piece back as soon as it has
 * looked at it, where the pieces of `Readable.toWeb`, and the ones that it copies them from, lie about as garbage until
 * V8 sees a reason to collect them: twice an 8 MB upload. Small pieces are joined before they are queued, for each would
 * cost some 200 bytes and a turn of the reader. Whoever reads no further is not told at
 * once: closing a connection that still brings bytes would take the answer away from the sender, who is mostly about to
 * read it. So what comes is passed over for a while, and then the connection is cut.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import { clearImmediate, setImmediate } from "node:timers";
import { ByteBuffer } from "../http/body/byte_buffer.ts";

/** What is passed over when nobody reads on: bytes, and milliseconds. */
const LINGER_BYTES = 32 * 1024 * 1024;
const LINGER_TIME = 10_000;
/** Bytes that wait to be read. */
const WAITING = 64 * 1024;
/** A body that declares at most so many bytes is read at once, which is quickest. */
const MAX_SMALL_BODY_BYTES = 64 * 1024;
/** A piece with fewer bytes is joined with those beside it. */
const MIN_PIECE_BYTES = 4 * 1024;

/** Gives a request of `srvx` this body; where its sender declares a small one, a way to read it whole. */
export function useParserBody(request: Request, req: IncomingMessage): void {
  const { headers } = req;
  const isSmall = headers["transfer-encoding"] === undefined &&
    !(Number(headers["content-length"]) > MAX_SMALL_BODY_BYTES);
  if (isSmall && !headers["content-type"]?.startsWith("multipart/")) {
    // Requests without a body are most of those that declare no length.
    if (headers["content-length"] !== undefined) request.bytes = () => readSmall(req);
    return;
  }
  let body: ReadableStream<Uint8Array> | undefined;
  Object.defineProperty(request, "body", { configurable: true, get: () => body ??= streamOf(req) });
}

/** All of a body, from the parser: each way of `srvx` but `text()` builds a stream first. */
function readSmall(req: IncomingMessage): Promise<Uint8Array<ArrayBuffer>> {
  return new Promise((resolve, reject) => {
    if (req.readableEnded || req.destroyed) {
      return reject(new Error("The body was read, or its sender is gone"));
    }
    let only: Uint8Array<ArrayBuffer> | undefined;
    let more: ByteBuffer | undefined;
    req.on("data", (piece: Uint8Array<ArrayBuffer>) => {
      if (only === undefined) only = piece;
      else {
        if (!more) (more = new ByteBuffer()).append(only);
        more.append(piece);
      }
    });
    // Each request is closed, and an error that nobody needs notes where it was made.
    const onClose = (): void => reject(new Error("The connection was closed"));
    req.on("end", () => {
      req.off("close", onClose);
      resolve(more?.take() ?? only ?? new Uint8Array());
    });
    req.on("error", reject);
    req.on("close", onClose);
  });
}

function streamOf(req: IncomingMessage): ReadableStream<Uint8Array> {
  let isOpen = true;
  /** Small pieces that wait to be joined. */
  const small = new ByteBuffer();
  let flushing: ReturnType<typeof setImmediate> | undefined;
  const flush = (controller: ReadableByteStreamController): void => {
    if (isOpen && small.length > 0) controller.enqueue(small.take());
  };
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      const flushToReader = (): void => {
        flushing = undefined;
        // While others wait to be read, `pull()` takes these along later.
        if (isOpen && controller.desiredSize! >= WAITING) flush(controller);
      };
      const end = (error?: Error): void => {
        if (!isOpen) return;
        flush(controller);
        isOpen = false;
        if (error) controller.error(error);
        else controller.close();
      };
      req.on("data", (piece: Uint8Array) => {
        if (!isOpen) return;
        if (piece.length < MIN_PIECE_BYTES) {
          small.append(piece);
          if (small.length >= MIN_PIECE_BYTES) flush(controller);
          // What else is in the same read of the socket comes before this.
          else flushing ??= setImmediate(flushToReader);
        } else {
          flush(controller);
          // Only a piece that has its memory for itself may give it away: others share it.
          const isWhole = piece.length === piece.buffer.byteLength;
          controller.enqueue(isWhole ? piece as Uint8Array<ArrayBuffer> : new Uint8Array(piece));
        }
        if (controller.desiredSize! <= 0) req.pause();
      });
      req.on("end", () => end());
      req.on("error", end);
      req.on("close", () => end(new Error("The connection was closed")));
      req.pause();
    },
    pull(controller) {
      flush(controller);
      req.resume();
    },
    cancel() {
      isOpen = false;
      clearImmediate(flushing);
      linger(req);
    },
  }, { highWaterMark: WAITING });
}

/** Passes over what still comes, and cuts the connection when that does not end. */
function linger(req: IncomingMessage): void {
  let passed = 0;
  const late = setTimeout(() => req.socket.destroy(), LINGER_TIME);
  req.on("data", (piece: Uint8Array) => {
    passed += piece.length;
    if (passed > LINGER_BYTES) req.socket.destroy();
  });
  req.once("close", () => clearTimeout(late));
  req.once("end", () => clearTimeout(late));
  req.resume();
}
