/**
 * Converts durations of target files and vectors to timer delays.
 *
 * @module
 */

/** The longest delay of a timer. Node.js fires a longer one at once. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Seconds as milliseconds for a timer, at most {@linkcode MAX_TIMER_MS}. */
export function toTimerMs(seconds: number): number {
  const milliseconds = seconds * 1000;
  return milliseconds <= MAX_TIMER_MS ? milliseconds : MAX_TIMER_MS;
}
