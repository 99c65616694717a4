/**
 * Delays that target files and vectors state, as timers take them.
 *
 * @module
 */

/** The longest delay of a timer: Node fires at once for a longer one. */
const MAX_TIMER_MS = 2 ** 31 - 1;

/** Milliseconds for a timer; {@linkcode MAX_TIMER_MS} for what is longer. */
export function timerDelay(seconds: number): number {
  const milliseconds = seconds * 1000;
  return milliseconds <= MAX_TIMER_MS ? milliseconds : MAX_TIMER_MS;
}
