/**
 * What a driver does again and again while it is open: sweeping, looking for changes. Keeps no process alive by itself.
 *
 * @module
 */
import { timerDelay } from "./timer.ts";

export class Chores {
  #timers: ReturnType<typeof setInterval>[] = [];

  /** Work that may fail: the next time does it. */
  every(milliseconds: number, work: () => Promise<unknown>): void {
    const timer = setInterval(() => work().catch(() => {}), timerDelay(milliseconds));
    // Node, Deno's and Bun's timers have it; on workerd nothing is kept alive by a timer.
    (timer as unknown as { unref?: () => void }).unref?.();
    this.#timers.push(timer);
  }

  stop(): void {
    for (const timer of this.#timers) clearInterval(timer);
  }
}
