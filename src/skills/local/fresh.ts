/**
 * What is asked of something slow at most once in a while, and never twice at a time.
 *
 * @module
 */

/** Gives what `make` gave last, which is made again when it is older than `lifetime` milliseconds and somebody asks. */
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
    // A slow disk is not asked again before it has answered.
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
