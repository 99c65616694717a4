/**
 * Caches the result of a slow function for a time, and never runs it twice at once.
 *
 * @module
 */

/** How many times as long as `make` took its result is kept: so it runs at most a tenth of the time. */
const LIFETIME_OF_SLOW = 10;

/**
 * Returns the last result of `make`; a call runs `make` again if the result is older than `lifetime` milliseconds, or than
 * ten times as long as `make` took, but at most ten lifetimes.
 */
export function keepFresh<Value>(
  lifetime: number,
  now: () => number,
  make: () => Promise<Value>,
): () => Promise<Value> {
  let since = -Infinity;
  let took = 0;
  let busy = false;
  let latest: Promise<Value> | undefined;
  return () => {
    const kept = LIFETIME_OF_SLOW * Math.min(Math.max(took, lifetime / LIFETIME_OF_SLOW), lifetime);
    const stale = now() - since >= kept || now() < since;
    // While `make` runs, callers share its result.
    if (latest && (busy || !stale)) return latest;
    since = now();
    busy = true;
    latest = make().catch((error) => {
      latest = undefined;
      throw error;
    }).finally(() => {
      took = now() - since;
      busy = false;
    });
    return latest;
  };
}
