/**
 * A store that breaks its word: it says that it removed, and did not. Nothing but tests imports this.
 *
 * @module
 */
import type { Store } from "./store.ts";

/** What reads or sets goes through to `store`; what removes does nothing and succeeds. */
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
