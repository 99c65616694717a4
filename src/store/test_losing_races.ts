/**
 * A store on which some commits lose every race. Nothing but tests imports this.
 *
 * @module
 */
import type { Commit, Store } from "./store.ts";

/** As `store`, but a commit that `loses` picks does nothing and says that a check failed. */
export function losingRaces(store: Store, loses: (commit: Commit) => boolean): Store {
  return new Proxy(store, {
    get(_, name) {
      if (name === "commit") {
        return async (commit: Commit) => loses(commit) ? false : await store.commit(commit);
      }
      const value: unknown = Reflect.get(store, name);
      return typeof value === "function" ? value.bind(store) : value;
    },
  });
}
