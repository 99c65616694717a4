/**
 * Reads a request body chunk by chunk, up to a limit of bytes. Loads with the first body that the runtime does not read as
 * a whole: a large one, or one without Content-Length.
 *
 * @module
 */
import { RateLimitError } from "../rate_limit.ts";
import { WorkSlice } from "../work_slice.ts";
import { ArrivingBodies, type ArrivingBody } from "./arriving_bodies.ts";
import { cancel, incompleteBody, tooLarge } from "./body_error.ts";
import { ByteBuffer } from "./byte_buffer.ts";

/** All that are read here. */
const ARRIVING = new ArrivingBodies();
/** `Retry-After` of a body that was ended. */
const RETRY_AFTER_SECONDS = 5;

/**
 * The rest of a body, after its `first` chunk if that was read.
 * @throws {BodyError} 413 for more than `limit` bytes (the rest is not read), 400 when the connection breaks
 * @throws {RateLimitError} when it was held back while other bodies needed the memory
 */
export async function readChunks(
  reader: ReadableStreamDefaultReader<Uint8Array>,
  limit: number,
  first?: Uint8Array,
  arriving: ArrivingBodies = ARRIVING,
): Promise<Uint8Array<ArrayBuffer>> {
  // Most bodies come in one chunk, which needs no buffer that grows: that took 2 of the 19 microseconds of a call.
  let only = first;
  let all: ByteBuffer | undefined;
  let slice: WorkSlice | undefined;
  let length = first?.length ?? 0;
  let isEnded = false;
  const body: ArrivingBody = {
    end() {
      isEnded = true;
      only = all = undefined;
      cancelSafely(reader);
    },
  };
  try {
    for (;;) {
      const { done, value } = await reader.read().catch((cause) => {
        throw isEnded ? heldBack() : incompleteBody(cause);
      });
      if (isEnded) throw heldBack();
      if (done) return all?.take() ?? only as Uint8Array<ArrayBuffer> | undefined ?? new Uint8Array();
      length += value.length;
      if (length > limit) {
        cancel(reader);
        throw tooLarge(limit);
      }
      arriving.count(body, length);
      // A copy, which `slice()` of a Buffer is not: the sender may reuse its buffer.
      if (!only) only = new Uint8Array(value);
      else {
        if (!all) (all = new ByteBuffer()).append(only);
        all.append(value);
        // Chunks that have arrived already are read without a turn of the event loop in between.
        slice ??= new WorkSlice();
        if (slice.isOver) await slice.yield();
      }
    }
  } finally {
    arriving.remove(body);
  }
}

function heldBack(): RateLimitError {
  return new RateLimitError("memory of request bodies", RETRY_AFTER_SECONDS);
}

/** On workerd a stream of another request throws: that request then reads on until its next chunk. */
function cancelSafely(reader: ReadableStreamDefaultReader<Uint8Array>): void {
  try {
    cancel(reader);
  } catch {
    // Its memory is free.
  }
}
