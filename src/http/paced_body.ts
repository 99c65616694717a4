/**
 * A body whose sender must keep going: it is read piece by piece, and given up when nothing comes for too long or the
 * whole takes too long. Whoever sends a byte a minute would otherwise hold what was set aside for him for hours.
 *
 * @module
 */
import { BodyError } from "./body.ts";

/** How slow a sender may be; milliseconds. */
export interface Pace {
  /** Between two pieces. */
  readonly idle: number;
  /** From the first look at the body to its end. */
  readonly whole: number;
}

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
  { idle, whole }: Pace,
  take: (piece: Uint8Array) => void,
): Promise<void> {
  const isOurs = givesAway(body);
  const reader = body.getReader();
  const until = performance.now() + whole;
  try {
    for (;;) {
      const left = until - performance.now();
      if (left <= 0) throw slow("did not end", whole);
      // Made only when it is needed: an error notes where it was made, which costs as much as a piece.
      const late = () => left < idle ? slow("did not end", whole) : slow("brought nothing", idle);
      const { done, value } = await within(reader.read(), Math.min(idle, left), late);
      if (done) return;
      take(value);
      // Given back at once: the pieces of a long body would lie about as garbage, as long as all of it.
      if (isOurs) (value.buffer as ArrayBuffer).transfer(0);
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
    const timeout = new Promise<never>((_, reject) => timer = setTimeout(() => reject(late()), time));
    return await Promise.race([reading, timeout]);
  } catch (cause) {
    if (cause instanceof SlowBodyError) throw cause;
    throw new BodyError(400, "The body ended early", { cause });
  } finally {
    clearTimeout(timer);
  }
}

function slow(what: string, time: number): SlowBodyError {
  return new SlowBodyError(
    `The body ${what} within ${Math.ceil(time / 1000)} s: send it again over a faster line`,
  );
}
