/**
 * Does something in the middle of a request, once: before its next commit, or after its next read of a kind of record; or
 * interrupts it, or loses the response of a commit. Only tests import this.
 *
 * @module
 */
import { type Store, StoreUnavailableError } from "./store.ts";

/** Whether it was done. */
export interface Meanwhile {
  readonly isDone: boolean;
}

export function beforeNextCommit(store: Store, act: () => Promise<unknown>): Meanwhile {
  const { commit } = store;
  const meanwhile = { isDone: false };
  Object.assign(store, {
    async commit(...call: Parameters<Store["commit"]>) {
      if (!meanwhile.isDone) {
        meanwhile.isDone = true;
        await act();
      }
      return await commit.apply(store, call);
    },
  });
  return meanwhile;
}

/** @param kind the first part of the key */
export function afterNextRead(store: Store, kind: string, act: () => Promise<unknown>): Meanwhile {
  const { get } = store;
  const meanwhile = { isDone: false };
  Object.assign(store, {
    async get(...call: Parameters<Store["get"]>) {
      const entry = await get.apply(store, call);
      if (call[0][0] === kind && !meanwhile.isDone) {
        meanwhile.isDone = true;
        await act();
      }
      return entry;
    },
  });
  return meanwhile;
}

/**
 * Lets all commits but the next `done` ones fail, as when the store becomes unavailable. Returns a function that ends it and
 * says whether one failed.
 */
export function interruptAfter(store: Store, done: number): () => boolean {
  const { commit } = store;
  let count = 0;
  Object.assign(store, {
    commit: (...call: Parameters<Store["commit"]>) =>
      count++ < done ? commit.apply(store, call) : Promise.reject(new StoreUnavailableError("interrupted")),
  });
  return () => {
    Object.assign(store, { commit });
    return count > done;
  };
}

/**
 * Does the next commit that changes a record of this kind, and lets it fail, as when only its response is lost.
 * @param kind the first part of the key
 */
export function loseNextResponse(store: Store, kind: string): Meanwhile {
  const { commit } = store;
  const meanwhile = { isDone: false };
  Object.assign(store, {
    async commit(...call: Parameters<Store["commit"]>) {
      const done = await commit.apply(store, call);
      const [{ set = [], remove = [] }] = call;
      const keys = [...set.map(({ key }) => key), ...remove];
      if (meanwhile.isDone || !done || !keys.some((key) => key[0] === kind)) return done;
      meanwhile.isDone = true;
      throw new StoreUnavailableError("The response was lost");
    },
  });
  return meanwhile;
}
