/**
 * Measures how long work blocks the event loop. A timer ticks as often as the loop allows; the result is the processor time
 * of this thread (of the process, on runtimes that do not measure threads) in the longest gap between two ticks, so a busy
 * machine does not look like a blocked loop. Only tests and fuzzers import this.
 *
 * - A test: `await assertLoopIsFree(() => service.fetch(request()))`.
 * - A long run: `const watchdog = new LoopWatchdog();`, then `watchdog.take()` after each request, and `watchdog.stop()`.
 *
 * On workerd, which has no such clock, the result is always 0.
 *
 * @module
 */

/** The maximum time that a request may block the event loop, on a machine that needs {@linkcode REFERENCE_MS}. */
export const MAX_LOOP_HOLD_MS = 50;
/** What {@linkcode measureReference} returns on a processor at its full speed. */
const REFERENCE_MS = 7;
const REFERENCE_RUNS = 12;
/** Fresh memory that one request may need in one turn, as for a body of 8 MB. */
const FRESH_BYTES = 8 * 1024 * 1024;
/** What {@linkcode measureFreshMemory} returns at full speed. Some virtual machines need 40. */
const FRESH_MS = 3;
const FRESH_RUNS = 5;

/** Work fails only if every attempt takes too long: other processes can slow one attempt down. */
const ATTEMPTS = 3;
/** Between two ticks of an idle loop. */
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

/** Processor time in milliseconds, of this thread if the runtime measures it. */
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
    this.#timer = setInterval(() => this.#measure(), TICK_MS);
  }

  /** The longest time that the loop was blocked since the last `take()`, in milliseconds. Starts a new measurement. */
  async take(): Promise<number> {
    // The time is measured at the next tick.
    await new Promise((resolve) => setTimeout(resolve, TICK_MS));
    this.#measure();
    const longest = this.#longest;
    this.#longest = 0;
    return longest;
  }

  stop(): void {
    clearInterval(this.#timer);
  }

  #measure(): void {
    const wall = performance.now();
    const processor = processorTime();
    // Other threads may have worked while this one waited, so the gap is the upper limit.
    const held = Math.min(wall - this.#wall, processor - this.#processor);
    if (held > this.#longest) this.#longest = held;
    this.#wall = wall;
    this.#processor = processor;
  }
}

/** The longest time that the work blocked the event loop, in milliseconds. */
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

/**
 * Whether the event loop was blocked for longer than {@linkcode MAX_LOOP_HOLD_MS}: in proportion on a slow machine, and longer
 * where fresh memory is slow.
 */
export function isTooLong(heldMs: number): boolean {
  // Only what is longer needs the speed of the machine.
  if (heldMs <= MAX_LOOP_HOLD_MS) return false;
  const limit = MAX_LOOP_HOLD_MS * Math.max(1, measureReference() / REFERENCE_MS);
  return heldMs > limit && heldMs > limit + Math.max(0, measureFreshMemory() - FRESH_MS);
}

/** The milliseconds of the processor to fill fresh memory, the median of some runs. */
function measureFreshMemory(): number {
  const times = Array.from({ length: FRESH_RUNS }, () => {
    const began = processorTime();
    const bytes = new Uint8Array(FRESH_BYTES).fill(1);
    const time = processorTime() - began;
    // An engine may leave out memory that is not read.
    if (bytes[FRESH_BYTES - 1] !== 1) throw new Error("unreachable");
    return time;
  });
  return times.sort((a, b) => a - b)[FRESH_RUNS >> 1]!;
}

/** The milliseconds in which this machine parses and reads a JSON text of 0.9 MB, the shortest of some runs. */
function measureReference(): number {
  const values = Array.from({ length: 20_000 }, (_, id) => ({ id, name: `n${id}`, tags: ["a", "b"] }));
  const text = JSON.stringify(values);
  let shortest = Infinity;
  for (let run = 0; run < REFERENCE_RUNS; run++) {
    const began = performance.now();
    const parsed: unknown[] = JSON.parse(text);
    let sum = parsed.length;
    for (let at = 0; at < text.length; at++) sum = sum * 31 + text.charCodeAt(at) | 0;
    // The sum is never so, but an engine may leave out a loop whose result is not used.
    if (sum === 0.5) throw new Error("unreachable");
    shortest = Math.min(shortest, performance.now() - began);
  }
  return shortest;
}

/** @throws {Error} when every attempt blocks the event loop for too long ({@linkcode isTooLong}) */
export async function assertLoopIsFree(work: () => unknown): Promise<void> {
  const holds: number[] = [];
  while (holds.length < ATTEMPTS) {
    const held = await longestHold(work);
    if (!isTooLong(held)) return;
    holds.push(held);
  }
  const times = holds.map((held) => held.toFixed(0)).join(", ");
  throw new Error(`The event loop was held for ${times} ms, more than ${MAX_LOOP_HOLD_MS} ms at full speed`);
}
