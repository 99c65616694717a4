/**
 * Long work in slices, so that one request does not keep the event loop from all others: code that may run for long asks
 * after each small step whether its slice is over, and if so lets other work run first.
 *
 * @module
 */

/** Milliseconds that work may run on before others get a turn. */
export const MAX_SLICE_MS = 10;

/** Resolves after the events that wait have been handled. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * The time of one piece of work. On workerd, whose clock stands still while code runs, a slice never ends.
 *
 * @example
 * ```ts
 * import { WorkSlice } from "./work_slice.ts";
 * const slice = new WorkSlice();
 * for (let step = 0; step < 100; step++) {
 *   // … a step of at most a few milliseconds …
 *   if (slice.isOver) await slice.yield();
 * }
 * ```
 */
export class WorkSlice {
  #since: number = performance.now();

  get isOver(): boolean {
    return performance.now() - this.#since > MAX_SLICE_MS;
  }

  /** Resolves after the events that wait have been handled. */
  async yield(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
