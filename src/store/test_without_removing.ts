/**
 * A store that acknowledges removals without removing anything. Only tests import this.
 *
 * @module
 */
import type { Store } from "./store.ts";

/** Like `store`, but commits skip their removals. */
export function withoutRemoving(store: Store): Store {
  return new Proxy(store, {
    get(_, name) {
      if (name === "commit") {
        return (commit: Parameters<Store["commit"]>[0]) => store.commit({ ...commit, remove: [] });
      }
      const value: unknown = Reflect.get(store, name);
      return typeof value === "function" ? value.bind(store) : value;
    },
  });
}
