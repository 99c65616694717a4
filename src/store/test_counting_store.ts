/**
 * A store that counts its calls and the characters written to it. Only tests import this.
 *
 * @module
 */
import { memoryStore } from "./drivers/memory.ts";
import type { Commit, Store } from "./store.ts";

export interface CountingStore {
  readonly store: Store;
  /** Calls of `get`, `list` and `commit` so far. */
  readonly calls: () => number;
  /** Characters of keys and values that were set so far. */
  readonly written: () => number;
}

export function countingStore(inner: Store = memoryStore()): CountingStore {
  let calls = 0;
  let written = 0;
  const store = new Proxy(inner, {
    get(_, name) {
      const value: unknown = Reflect.get(inner, name);
      if (typeof value !== "function") return value;
      if (name !== "get" && name !== "list" && name !== "commit") return value.bind(inner);
      return (...given: unknown[]) => {
        calls++;
        const { set = [] } = name === "commit" ? given[0] as Commit : {};
        for (const { key, value } of set) written += JSON.stringify([key, value]).length;
        return value.apply(inner, given);
      };
    },
  });
  return { store, calls: () => calls, written: () => written };
}
