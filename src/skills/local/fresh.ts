/**
 * Caches the result of a slow function for a time, and never runs it twice at once.
 *
 * @module
 */

/** Returns the last result of `make`; a call runs `make` again if the result is older than `lifetime` milliseconds. */
export function keepFresh<Value>(
  lifetime: number,
  now: () => number,
  make: () => Promise<Value>,
): () => Promise<Value> {
  let since = -Infinity;
  let busy = false;
  let latest: Promise<Value> | undefined;
  return () => {
    const stale = now() - since >= lifetime || now() < since;
    // While `make` runs, callers share its result.
    if (latest && (busy || !stale)) return latest;
    since = now();
    busy = true;
    latest = make().catch((error) => {
      latest = undefined;
      throw error;
    }).finally(() => busy = false);
    return latest;
  };
}
