/**
 * How many timers are open: what never ends shows there. Replaces the global functions until it is told to stop.
 *
 * @module
 */

type Timer = ReturnType<typeof setTimeout>;

export interface TimerCount {
  /** Open timers by their delay in milliseconds. */
  open(): ReadonlyMap<number, number>;
  restore(): void;
}

/** The functions as they are when this is loaded: for timers that are not counted. */
export const uncounted: Pick<typeof globalThis, "setTimeout" | "clearTimeout"> = {
  setTimeout: globalThis.setTimeout.bind(globalThis),
  clearTimeout: globalThis.clearTimeout.bind(globalThis),
} as Pick<typeof globalThis, "setTimeout" | "clearTimeout">;

/** Counts from now on. */
export function countTimers(): TimerCount {
  const { setTimeout, clearTimeout, setInterval, clearInterval } = globalThis;
  const timers = new Map<unknown, number>();
  const forget = (clear: (timer: Timer | undefined) => void) => (timer: Timer | undefined): void => {
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
    clearTimeout: forget(clearTimeout as (timer: Timer | undefined) => void),
    clearInterval: forget(clearInterval as (timer: Timer | undefined) => void),
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
