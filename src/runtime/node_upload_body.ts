/**
 * The body of a large request on Node, as a byte stream: its reader may give the memory of a piece back as soon as it has
 * looked at it, where the pieces of `Readable.toWeb`, and the ones that it copies them from, lie about as garbage until
 * V8 sees a reason to collect them: twice an 8 MB upload. Whoever reads no further is not told at
 * once: closing a connection that still brings bytes would take the answer away from the sender, who is mostly about to
 * read it. So what comes is passed over for a while, and then the connection is cut.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";

/** What is passed over when nobody reads on: bytes, and milliseconds. */
const LINGER_BYTES = 32 * 1024 * 1024;
const LINGER_TIME = 10_000;
/** Bytes that wait to be read. */
const WAITING = 64 * 1024;

/** Gives a request of `srvx` this body. */
export function useParserBody(request: Request, req: IncomingMessage): void {
  let body: ReadableStream<Uint8Array> | undefined;
  Object.defineProperty(request, "body", { configurable: true, get: () => body ??= streamOf(req) });
}

function streamOf(req: IncomingMessage): ReadableStream<Uint8Array> {
  let isOpen = true;
  return new ReadableStream({
    type: "bytes",
    start(controller) {
      const end = (error?: Error): void => {
        if (!isOpen) return;
        isOpen = false;
        if (error) controller.error(error);
        else controller.close();
      };
      req.on("data", (piece: Uint8Array) => {
        if (!isOpen) return;
        // Only a piece that has its memory for itself may give it away: others share it.
        const isWhole = piece.length === piece.buffer.byteLength;
        controller.enqueue(isWhole ? piece as Uint8Array<ArrayBuffer> : new Uint8Array(piece));
        if (controller.desiredSize! <= 0) req.pause();
      });
      req.on("end", () => end());
      req.on("error", end);
      req.on("close", () => end(new Error("The connection was closed")));
      req.pause();
    },
    pull: () => void req.resume(),
    cancel() {
      isOpen = false;
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
