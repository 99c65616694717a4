/**
 * Counts open timers, to find leaks. Replaces the global functions until `restore` is called.
 *
 * @module
 */

type Timer = ReturnType<typeof setTimeout>;

export interface TimerCount {
  /** Open timers by their delay in milliseconds. */
  open(): ReadonlyMap<number, number>;
  restore(): void;
}

/** The original functions, for timers that must not be counted. */
export const uncounted: Pick<typeof globalThis, "setTimeout" | "clearTimeout"> = {
  setTimeout: globalThis.setTimeout.bind(globalThis),
  clearTimeout: globalThis.clearTimeout.bind(globalThis),
} as Pick<typeof globalThis, "setTimeout" | "clearTimeout">;

/** Starts to count. */
export function countTimers(): TimerCount {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  const timers = new Map<unknown, number>();
  const removeAnd = (clear: (timer: Timer | undefined) => void) => (timer: Timer | undefined): void => {
    timers.delete(timer);
    clear(timer);
  };
  Object.assign(globalThis, {
    setTimeout(run: (...given: unknown[]) => void, delay = 0, ...given: unknown[]): Timer {
      const timer = setTimeout(() => {
        timers.delete(timer);
        run(...given);
      }, delay);
      timers.set(timer, delay);
      return timer;
    },
    setInterval(run: (...given: unknown[]) => void, delay = 0, ...given: unknown[]): Timer {
      const timer = setInterval(run, delay, ...given);
      timers.set(timer, delay);
      return timer;
    },
    clearTimeout: removeAnd(clearTimeout as (timer: Timer | undefined) => void),
    clearInterval: removeAnd(clearInterval as (timer: Timer | undefined) => void),
  });
  return {
    open() {
      const counts = new Map<number, number>();
      for (const delay of timers.values()) counts.set(delay, (counts.get(delay) ?? 0) + 1);
      return counts;
    },
    restore: () => void Object.assign(globalThis, { setTimeout, clearTimeout, setInterval, clearInterval }),
  };
}
