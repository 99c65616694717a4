/**
 * Test kit: a store that counts its open watches and fails on demand, for tests of leaks.
 *
 * @module
 */
import type { Key, Store } from "../../store/store.ts";

export interface WatchedStore {
  readonly store: Store;
  /** The number of open watches. */
  watches(): number;
  /** Reads reject while it is true. */
  fails: boolean;
}

/** Wraps a store. */
export function watchedStore(inner: Store): WatchedStore {
  let open = 0;
  const read = <Value>(work: () => Promise<Value>): Promise<Value> =>
    watched.fails ? Promise.reject(new Error("The store is unavailable")) : work();
  const watched: WatchedStore = {
    fails: false,
    watches: () => open,
    store: {
      guarantees: inner.guarantees,
      get: (key, options) => read(() => inner.get(key, options)),
      list: (prefix, options) => read(() => inner.list(prefix, options)),
      commit: (commit) => inner.commit(commit),
      sweep: () => inner.sweep(),
      close: () => inner.close(),
      watch(prefix) {
        open++;
        const reader = inner.watch(prefix).getReader();
        return new ReadableStream<readonly Key[]>({
          async pull(controller) {
            const { done, value } = await reader.read();
            if (done) controller.close();
            else controller.enqueue(value);
          },
          cancel() {
            open--;
            return reader.cancel();
          },
        });
      },
    },
  };
  return watched;
}
