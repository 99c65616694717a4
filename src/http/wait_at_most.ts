/**
 * Waits for work, for a limited time.
 *
 * @module
 */
import { timerDelay } from "../timer.ts";

/** Resolves when the work is done or has failed, or when the time is over. */
export async function waitAtMost(milliseconds: number, work: Promise<unknown>): Promise<"done" | "late"> {
  let timer: ReturnType<typeof setTimeout> | undefined;
  const late = new Promise<"late">((resolve) =>
    timer = setTimeout(() => resolve("late"), timerDelay(milliseconds))
  );
  const outcome = await Promise.race([work.then(() => "done" as const, () => "done" as const), late]);
  clearTimeout(timer);
  return outcome;
}
