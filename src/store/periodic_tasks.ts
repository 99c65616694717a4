/**
 * Periodic work of a driver while it is open: sweeping, polling for changes. Its timers do not keep a process alive.
 *
 * @module
 */
import { timerDelay, unrefTimer } from "../timer.ts";

export class PeriodicTasks {
  #timers: ReturnType<typeof setInterval>[] = [];

  /** Runs `work` at this interval. Errors are ignored, because the next run does the work. */
  every(milliseconds: number, work: () => Promise<unknown>): void {
    const timer = setInterval(() => work().catch(() => {}), timerDelay(milliseconds));
    unrefTimer(timer);
    this.#timers.push(timer);
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
