/**
 * How often something was named of late, in the memory of this instance: for what only orders who waits, or how an
 * answer reads, and may be forgotten. Limits that must hold are in the store (`throttle.ts`).
 *
 * @module
 */

/** After this a count is worth half. */
export const HALF_LIFE_MS: number = 10 * 60 * 1000;
/** Past it, what was named longest ago is forgotten. */
export const MAX_NAMES = 50_000;

export interface RecentCounts {
  /** Counts one more. @returns the count before */
  add(name: string): number;
  has(name: string): boolean;
  forget(name: string): void;
  /** How many names are remembered. */
  readonly size: number;
}

export function createRecentCounts(now: () => number): RecentCounts {
  const counts = new Map<string, { readonly count: number; readonly at: number }>();
  return {
    add(name) {
      const at = now();
      const found = counts.get(name);
      const before = found ? found.count * 2 ** ((found.at - at) / HALF_LIFE_MS) : 0;
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
