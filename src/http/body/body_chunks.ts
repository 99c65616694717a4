/**
 * Reads a request body chunk by chunk, up to a limit of bytes. Loads with the first body that the runtime does not read as
 * a whole: a large one, or one without Content-Length.
 *
 * @module
 */
import { cancel, incompleteBody, tooLarge } from "./body_error.ts";
import { ByteBuffer } from "./byte_buffer.ts";
import { WorkSlice } from "../work_slice.ts";

/**
 * The rest of a body, after its `first` chunk if that was read.
 * @throws {BodyError} 413 for more than `limit` bytes (the rest is not read), 400 when the connection breaks
 */
export async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
  first?: Uint8Array,
): Promise<Uint8Array<ArrayBuffer>> {
  const buffer = new ByteBuffer();
  if (first) buffer.append(first);
  const slice = new WorkSlice();
  for (;;) {
    const { done, value } = await reader.read().catch((cause) => {
      throw incompleteBody(cause);
    });
    if (done) return buffer.take();
    if (buffer.length + value.length > limit) {
      cancel(reader);
      throw tooLarge(limit);
    }
    buffer.append(value);
    // Chunks that have arrived already are read without a turn of the event loop in between.
    if (slice.isOver) await slice.yield();
  }
}
