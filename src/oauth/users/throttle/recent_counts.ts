/**
 * Counts of recent events by name, in the memory of this instance: for the order of waiting attempts and the status of
 * refusals, where a lost count does no harm. Limits that must hold are in the store (`throttle.ts`).
 *
 * @module
 */

/** A count is halved after this time. */
export const HALF_LIFE_MS: number = 10 * 60 * 1000;
/** Beyond it the name that was counted longest ago is removed. */
export const MAX_NAMES = 50_000;

export interface RecentCounts {
  /** Adds one. @returns the count before */
  add(name: string): number;
  has(name: string): boolean;
  forget(name: string): void;
  /** The number of names. */
  readonly size: number;
}

export function createRecentCounts(now: () => number): RecentCounts {
  const counts = new Map<string, { readonly count: number; readonly at: number }>();
  return {
    add(name) {
      const at = now();
      const found = counts.get(name);
      // Of a count from a clock that was ahead the age is unknown: it would double for each half-life, to Infinity for ever.
      const age = found ? Math.max(0, at - found.at) : 0;
      const before = found ? found.count * 2 ** (-age / HALF_LIFE_MS) : 0;
      counts.delete(name);
      counts.set(name, { count: before + 1, at });
      if (counts.size > MAX_NAMES) counts.delete(counts.keys().next().value!);
      return Math.round(before);
    },
    has: (name) => counts.has(name),
    get size() {
      return counts.size;
    },
    forget: (name) => void counts.delete(name),
  };
}
