/**
 * The body of a request on Node, as a byte stream whose reader can free the memory of a chunk after reading it. The chunks
 * of `Readable.toWeb`, and their originals, stay until garbage collection: twice an 8 MB upload. Small chunks are joined,
 * since each costs some 200 bytes and a turn of the reader.
 *
 * When the reader stops, the connection stays open for a while and the rest is discarded: a connection that closes while
 * data arrives would lose the response for the client. Then the connection is cut.
 *
 * @module
 */
import type { IncomingMessage } from "node:http";
import { clearImmediate, setImmediate } from "node:timers";
import { ByteBuffer } from "../../http/body/byte_buffer.ts";

/** How much, and for how long, is discarded after the reader stopped. */
const MAX_DISCARDED_BYTES = 32 * 1024 * 1024;
const MAX_DISCARD_MS = 10_000;
/** How much is buffered for the reader. */
const BUFFER_BYTES = 64 * 1024;
/** Smaller chunks are joined. */
const MIN_CHUNK_BYTES = 4 * 1024;

/** The body as a stream. */
export function streamOf(req: IncomingMessage): ReadableStream<Uint8Array> {
  let isOpen = true;
  /** Small chunks to be joined. */
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
        // Otherwise `pull()` enqueues them later.
        if (isOpen && controller.desiredSize! >= BUFFER_BYTES) flush(controller);
      };
      const end = (error?: Error): void => {
        if (!isOpen) return;
        flush(controller);
        isOpen = false;
        if (error) controller.error(error);
        else controller.close();
      };
      req.on("data", (chunk: Uint8Array) => {
        if (!isOpen) return;
        if (chunk.length < MIN_CHUNK_BYTES) {
          small.append(chunk);
          if (small.length >= MIN_CHUNK_BYTES) flush(controller);
          // Runs after the other chunks of the same socket read.
          else flushing ??= setImmediate(flushToReader);
        } else {
          flush(controller);
          // Only a chunk that does not share its memory can transfer it.
          const isWhole = chunk.length === chunk.buffer.byteLength;
          controller.enqueue(isWhole ? chunk as Uint8Array<ArrayBuffer> : new Uint8Array(chunk));
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
      clearImmediate(flushing);
      // After its end there is no rest, and the connection may have the next request.
      if (isOpen) discardRest(req);
      isOpen = false;
    },
  }, { highWaterMark: BUFFER_BYTES });
}

/** Discards what still arrives, and cuts the connection at the limits. */
function discardRest(req: IncomingMessage): void {
  let discarded = 0;
  const late = setTimeout(() => cut(req), MAX_DISCARD_MS);
  req.on("data", (chunk: Uint8Array) => {
    discarded += chunk.length;
    if (discarded > MAX_DISCARDED_BYTES) cut(req);
  });
  req.once("close", () => clearTimeout(late));
  req.once("end", () => clearTimeout(late));
  req.resume();
}

/** The connection of an HTTP/2 request has others: only its stream ends. */
function cut(req: IncomingMessage): void {
  if ("stream" in req) (req.stream as { close(): void }).close();
  else req.socket.destroy();
}
