/**
 * Reads a body under time limits: reading ends with an error when no data arrives for too long, when the average rate is
 * too low, or when the whole body takes too long. A client that sends one byte a minute would otherwise hold the memory
 * reserved for its request for hours.
 *
 * @module
 */
import { BodyError, incompleteBody } from "./body_error.ts";
import { timerDelay } from "../../timer.ts";
import { WorkSlice } from "../work_slice.ts";

/** The time limits of a body, in milliseconds. */
export interface Pace {
  /** The maximum time between two chunks. */
  readonly idle: number;
  /** The maximum time from the start of reading to the end of the body. */
  readonly whole: number;
  /** The minimum average rate after `grace`, in bytes per second. @default 0 */
  readonly rate?: number;
  /** The time before `rate` applies. @default 10000 */
  readonly grace?: number;
}

/** A larger chunk, such as the whole body of a runtime that buffers it, is taken in steps of this size. */
const STEP_BYTES = 64 * 1024;
/** The default of `grace`. */
const GRACE_MS = 10_000;

/**
 * The client sent the body too slowly. The status is 400, because clients retry 408 by themselves and would be as slow
 * again.
 */
export class SlowBodyError extends BodyError {
  /** The time limit that was exceeded. */
  readonly limit: "idle" | "whole" | "rate";

  constructor(limit: SlowBodyError["limit"], message: string) {
    super(400, `The request body arrived too slowly: ${message}. Send it again over a faster connection`);
    this.limit = limit;
  }
}

/**
 * Calls `take` with each chunk, or its steps, between which other work may run; `take` must not keep it. Reading ends when
 * `take` throws.
 * @throws {BodyError} 400 when the connection breaks or is too slow, and what `take` throws
 */
export async function readPaced(
  body: ReadableStream<Uint8Array>,
  { idle, whole, rate = 0, grace = GRACE_MS }: Pace,
  take: (chunk: Uint8Array) => void,
): Promise<void> {
  const isOwned = isByteStream(body);
  const reader = body.getReader();
  const since = performance.now();
  let received = 0;
  const slice = new WorkSlice();
  try {
    for (;;) {
      const passed = performance.now() - since;
      const left = whole - passed;
      if (left <= 0) throw tooLong(whole);
      // The bytes received so far satisfy the rate for this long.
      const leftAtRate = Math.max(0, (rate > 0 ? grace + received * 1000 / rate : Infinity) - passed);
      const time = Math.min(idle, left, leftAtRate);
      // Created only when needed: an error records its stack, which costs as much as reading a chunk.
      const late = () =>
        time === leftAtRate ? belowRate(rate) : time === left ? tooLong(whole) : idleFor(idle);
      const { done, value } = await within(reader.read(), time, late);
      if (done) return;
      received += value.length;
      for (let from = 0; from < value.length; from += STEP_BYTES) {
        take(value.subarray(from, from + STEP_BYTES));
        // Chunks that have arrived already are read without a turn of the event loop in between.
        if (slice.isOver) await slice.yield();
      }
      // Frees the memory now: as garbage, the chunks of a long body would take as much memory as the body.
      if (isOwned) (value.buffer as ArrayBuffer).transfer(0);
    }
  } catch (error) {
    // Not awaited: the stream of a client that hangs may never settle.
    reader.cancel().catch(() => {});
    throw error;
  }
}

/** Whether the reader owns the memory of each chunk: a byte stream transfers it (Streams Standard, section 4.7.3). */
function isByteStream(body: ReadableStream<Uint8Array>): boolean {
  try {
    body.getReader({ mode: "byob" }).releaseLock();
    return true;
  } catch {
    return false;
  }
}

async function within<Value>(
  reading: Promise<Value>,
  time: number,
  late: () => SlowBodyError,
): Promise<Value> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  try {
    const timeout = new Promise<never>((_, reject) =>
      timer = setTimeout(() => reject(late()), timerDelay(time))
    );
    return await Promise.race([reading, timeout]);
  } catch (cause) {
    if (cause instanceof SlowBodyError) throw cause;
    throw incompleteBody(cause);
  } finally {
    clearTimeout(timer);
  }
}

function belowRate(rate: number): SlowBodyError {
  return new SlowBodyError("rate", `fewer than ${Math.ceil(rate)} bytes per second`);
}

function tooLong(time: number): SlowBodyError {
  return new SlowBodyError("whole", `it was not complete within ${Math.ceil(time / 1000)} s`);
}

function idleFor(time: number): SlowBodyError {
  return new SlowBodyError("idle", `no data for ${Math.ceil(time / 1000)} s`);
}
