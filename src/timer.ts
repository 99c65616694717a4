/**
 * Limits the delays of timers that come from options and records.
 *
 * @module
 */

/** The longest delay of a timer (24.8 days). Runtimes fire immediately for a longer one, and an interval continuously. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** The delay, at most {@linkcode MAX_TIMER_MS}, which also replaces NaN. */
export function timerDelay(milliseconds: number): number {
  return milliseconds <= MAX_TIMER_MS ? milliseconds : MAX_TIMER_MS;
}
