/**
 * Timers that keep no process alive.
 *
 * @module
 */
import { timerDelay, unrefTimer } from "../../timer.ts";

/** Runs a function after some milliseconds. Returns the function that prevents it. */
export function later(milliseconds: number, run: () => void): () => void {
  const timer = setTimeout(run, timerDelay(milliseconds));
  unrefTimer(timer);
  return () => clearTimeout(timer);
}
