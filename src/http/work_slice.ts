/**
 * Splits long work into time slices, so that one request does not block the event loop: after each small step, the work
 * checks whether its slice is over, and if so lets other work run first.
 *
 * @module
 */

/** How long work may run before other work gets a turn. */
export const MAX_SLICE_MS = 10;

/** Resolves after the pending events were handled. */
export function nextTurn(): Promise<void> {
  return new Promise((resolve) => setTimeout(resolve, 0));
}

/**
 * Measures the current time slice. On workerd, whose clock stops while code runs, a slice never ends.
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

  /** Lets other work run, then starts a new slice. */
  async yield(): Promise<void> {
    await nextTurn();
    this.#since = performance.now();
  }
}
