/**
 * Timers that keep no process alive.
 *
 * @module
 */
import { timerDelay } from "../../timer.ts";

/** Runs a function after some milliseconds. Returns the function that prevents it. */
export function later(milliseconds: number, run: () => void): () => void {
  const timer = setTimeout(run, timerDelay(milliseconds));
  // Timers of workerd have no `unref`.
  (timer as unknown as { unref?: () => void }).unref?.();
  return () => clearTimeout(timer);
}
