/**
 * Timers: delays that come from options and records, and timers that keep no process alive.
 *
 * @module
 */

/** The longest delay of a timer (24.8 days). Runtimes fire immediately for a longer one, and an interval continuously. */
export const MAX_TIMER_MS: number = 2 ** 31 - 1;

/** The delay, at most {@linkcode MAX_TIMER_MS}, which also replaces NaN. */
export function timerDelay(milliseconds: number): number {
  return milliseconds <= MAX_TIMER_MS ? milliseconds : MAX_TIMER_MS;
}

/** Lets the process end while the timer waits. Timers of workerd keep nothing alive and have no `unref`. */
export function unrefTimer(timer: ReturnType<typeof setTimeout>): void {
  (timer as unknown as { unref?: () => void }).unref?.();
}
