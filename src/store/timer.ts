/**
 * Limits the delays of timers that come from options and records. `http/timer.ts` is the same for code outside the store.
 *
 * @module
 */

/** The longest delay of a timer (24.8 days). Runtimes fire immediately for a longer one. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** The delay, at most `MAX_TIMER_MS`, which also replaces NaN. */
export function timerDelay(milliseconds: number): number {
  return milliseconds <= MAX_TIMER_MS ? milliseconds : MAX_TIMER_MS;
}
