/**
 * A store on which chosen commits lose every race. Only tests import this.
 *
 * @module
 */
import type { Commit, Store } from "./store.ts";

/** Like `store`, but a commit for which `loses` is true does nothing and returns `false`, as after a failed check. */
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
