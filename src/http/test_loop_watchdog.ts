/**
 * How long work holds the event loop. A tick comes as often as the loop allows; what the longest gap between two ticks cost
 * is the processor time of this thread (of this process where the runtime does not tell threads apart), so that a busy
 * machine does not look like a busy loop. Nothing but tests and fuzzers imports this.
 *
 * - A test: `await assertLoopIsFree(() => service.fetch(request()))`.
 * - A long run: `const watchdog = new LoopWatchdog();`, then `watchdog.take()` after each request, and `watchdog.stop()`.
 *
 * On workerd, which has no such clock, nothing is measured.
 *
 * @module
 */

/** Milliseconds that no request may hold the event loop. */
export const MAX_LOOP_HOLD_MS = 50;

/** How often work is tried before it counts as too long: what others do to the machine's caches is not its fault. */
const ATTEMPTS = 3;
/** Milliseconds between two ticks of an idle loop. */
const TICK_MS = 1;

interface Usage {
  readonly user: number;
  readonly system: number;
}
interface ProcessorClock {
  threadCpuUsage?(): Usage;
  cpuUsage?(): Usage;
}

const isWorkerd = globalThis.navigator?.userAgent === "Cloudflare-Workers";
const host = isWorkerd ? undefined : (globalThis as { process?: ProcessorClock }).process;

/** Milliseconds of processor time, of this thread if possible. */
export function processorTime(): number {
  const usage = host?.threadCpuUsage?.() ?? host?.cpuUsage?.();
  return usage ? (usage.user + usage.system) / 1000 : 0;
}

/** Measures from its creation until `stop()`. */
export class LoopWatchdog {
  #longest = 0;
  #wall = performance.now();
  #processor: number = processorTime();
  #timer: ReturnType<typeof setInterval>;

  constructor() {
    this.#timer = setInterval(() => this.#look(), TICK_MS);
  }

  /** The longest hold since the last `take()`, in milliseconds, and begins anew. */
  async take(): Promise<number> {
    // A hold ends with the tick behind it.
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    this.#look();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const wall = performance.now();
    const processor = processorTime();
    // Other threads may have worked while this one waited: no hold is longer than the gap.
    const held = Math.min(wall - this.#wall, processor - this.#processor);
    if (held > this.#longest) this.#longest = held;
    this.#wall = wall;
    this.#processor = processor;
  }
}

/** The longest that the work held the event loop, in milliseconds. */
export async function longestHold(work: () => unknown): Promise<number> {
  const watchdog = new LoopWatchdog();
  try {
    await watchdog.take();
    await work();
    return await watchdog.take();
  } finally {
    watchdog.stop();
  }
}

/** @throws {Error} when the work holds the event loop for longer than {@linkcode MAX_LOOP_HOLD_MS} each time it is tried */
export async function assertLoopIsFree(work: () => unknown): Promise<void> {
  const holds: number[] = [];
  while (holds.length < ATTEMPTS) {
    const held = await longestHold(work);
    if (held <= MAX_LOOP_HOLD_MS) return;
    holds.push(held);
  }
  const times = holds.map((held) => held.toFixed(0)).join(", ");
  throw new Error(`The event loop was held for ${times} ms, more than ${MAX_LOOP_HOLD_MS} ms`);
}
