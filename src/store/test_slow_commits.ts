/**
 * A store whose commits begin late, so that concurrent requests all read before the first of them commits. Only tests
 * import this.
 *
 * @module
 */
import type { Commit, Store } from "./store.ts";

/** The store, with this delay before each commit, or before some of them. */
export function slowCommits(
  store: Store,
  milliseconds: number = 20,
  isSlow: (commit: Commit) => boolean = () => true,
): Store {
  return new Proxy(store, {
    get(_, name) {
      if (name === "commit") {
        return async (commit: Commit) => {
          if (isSlow(commit)) await new Promise((resolve) => setTimeout(resolve, milliseconds));
          return await store.commit(commit);
        };
      }
      const value: unknown = Reflect.get(store, name);
      return typeof value === "function" ? value.bind(store) : value;
    },
  });
}
