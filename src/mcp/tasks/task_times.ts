/**
 * Checks the times of a tool's task options. Apart from `task_outcome.ts`, which loads with the first task.
 *
 * @module
 */
import type { TaskOptions } from "../context.ts";

/** The largest time value of a date (ECMA-262, 21.4.1.1), less some 20,000 years. */
const MAX_TIME_MS = 8e15;

/** @throws {TypeError} unless the times are non-negative integers (milliseconds) that a date can express */
export function checkTaskTimes(name: string, { ttl = 0, pollInterval = 0 }: TaskOptions): void {
  for (const [option, value] of Object.entries({ ttl, pollInterval })) {
    if (!Number.isSafeInteger(value) || value < 0 || value > MAX_TIME_MS) {
      throw new TypeError(
        `Invalid task options of tool "${name}": ${option} must be a non-negative integer (milliseconds)`,
      );
    }
  }
}
