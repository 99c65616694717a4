/**
 * A body whose sender must keep going: it is read piece by piece, and given up when nothing comes for too long or the
 * whole takes too long. Whoever sends a byte a minute would otherwise hold what was set aside for him for hours.
 *
 * @module
 */
import { BodyError } from "./body.ts";
import { timerDelay } from "../timer.ts";
import { WorkSlice } from "../work_slice.ts";

/** How slow a sender may be; milliseconds. */
export interface Pace {
  /** Between two pieces. */
  readonly idle: number;
  /** From the first look at the body to its end. */
  readonly whole: number;
  /** Bytes a second that must come on average after the first so many milliseconds. @default 0 */
  readonly rate?: number;
  /** @default 10000 */
  readonly grace?: number;
}

/** Milliseconds in which a sender may get up to speed. */
const GRACE_MS = 10_000;

/** The sender was too slow: 400, since clients repeat what is 408 by themselves and would be as slow again. */
export class SlowBodyError extends BodyError {
  constructor(message: string) {
    super(400, message);
  }
}

/**
 * Gives `take` each piece in turn, which must not keep it. The sender is cut off when `take` throws.
 * @throws {BodyError} 400 when the sender breaks off or is too slow, and what `take` throws
 */
export async function readPaced(
  body: ReadableStream<Uint8Array>,
  { idle, whole, rate = 0, grace = GRACE_MS }: Pace,
  take: (piece: Uint8Array) => void,
): Promise<void> {
  const isOurs = givesAway(body);
  const reader = body.getReader();
  const since = performance.now();
  let received = 0;
  const slice = new WorkSlice();
  try {
    for (;;) {
      const passed = performance.now() - since;
      const left = whole - passed;
      if (left <= 0) throw slow("did not end", whole);
      // What came suffices for so long.
      const leftAtRate = Math.max(0, (rate > 0 ? grace + received * 1000 / rate : Infinity) - passed);
      const time = Math.min(idle, left, leftAtRate);
      // Made only when it is needed: an error notes where it was made, which costs as much as a piece.
      const late = () =>
        time === leftAtRate
          ? tooSlow(rate)
          : time === left
          ? slow("did not end", whole)
          : slow("brought nothing", idle);
      const { done, value } = await within(reader.read(), time, late);
      if (done) return;
      received += value.length;
      take(value);
      // Given back at once: the pieces of a long body would lie about as garbage, as long as all of it.
      if (isOurs) (value.buffer as ArrayBuffer).transfer(0);
      // Small pieces that are there already are read without a turn of the event loop.
      if (slice.isOver) await slice.yield();
    }
  } catch (error) {
    // Not awaited: a sender that is stuck need not hear of it before the caller does.
    reader.cancel().catch(() => {});
    throw error;
  }
}

/** Whether pieces are nobody else's: a byte stream gives the memory of each away (Streams Standard, section 4.7.3). */
function givesAway(body: ReadableStream<Uint8Array>): boolean {
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
    throw new BodyError(400, "The body ended early", { cause });
  } finally {
    clearTimeout(timer);
  }
}

function tooSlow(rate: number): SlowBodyError {
  const bytes = Math.ceil(rate);
  return new SlowBodyError(
    `The body came slower than ${bytes} bytes a second: send it again over a faster line`,
  );
}

function slow(what: string, time: number): SlowBodyError {
  return new SlowBodyError(
    `The body ${what} within ${Math.ceil(time / 1000)} s: send it again over a faster line`,
  );
}
