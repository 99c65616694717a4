/**
 * Delays that come from options and records, as timers take them.
 *
 * @module
 */

/** The longest delay of a timer (24.8 days): runtimes fire at once for a longer one, and an interval becomes a flood. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** The delay, or {@linkcode MAX_TIMER_MS} for a longer one and for what is no number. */
export function timerDelay(milliseconds: number): number {
  return milliseconds <= MAX_TIMER_MS ? milliseconds : MAX_TIMER_MS;
}
