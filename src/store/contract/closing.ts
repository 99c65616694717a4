/**
 * The tests of watching a store, and of closing it.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { StoreClosedError } from "../store.ts";
import type { ContractOptions, ContractSuite } from "./suite.ts";

export function closingTests(test: ContractSuite, { open, reopen }: ContractOptions): void {
  test("watch() is notified of keys below the prefix that are set or removed, and of no others", async ({ store }) => {
    const reader = store.watch(["w", "mine"]).getReader();
    await store.commit({ set: [{ key: ["w", "other"], value: 1 }, { key: ["w", "mine", 1], value: 1 }] });
    await store.commit({ remove: [["w", "mine", 1]] });
    assert.equal((await reader.read()).value, [["w", "mine", 1]]);
    assert.equal((await reader.read()).value, [["w", "mine", 1]]);
    await reader.cancel();
  });

  test("watch() ends when the store closes", async ({ clock }) => {
    const store = await open(clock.now);
    const reader = store.watch(["w"]).getReader();
    await store.close();
    assert.is((await reader.read()).done, true);
  });

  test("close() waits for pending calls, also in a store that was not used before", async ({ store, clock }) => {
    for (const isUsed of [true, false]) {
      const closing = await (reopen ?? open)(clock.now);
      if (isUsed) await closing.get(["pending"]);
      const keys = Array.from({ length: 30 }, (_, i) => ["pending", String(isUsed), i]);
      const calls = Promise.allSettled([
        ...keys.map((key) => closing.commit({ set: [{ key, value: 1 }] })),
        ...keys.map((key) => closing.get(key)),
        closing.list(["pending"]),
      ]);
      const twice = Promise.all([closing.close(), closing.close()]);
      const late = await closing.get(["late"]).then(() => "resolved", () => "rejected");
      await twice;
      assert.equal((await calls).filter(({ status }) => status === "rejected"), []);
      if (!reopen) continue;
      assert.is(late, "rejected");
      assert.is((await store.list(["pending", String(isUsed)])).length, keys.length);
    }
  });

  test("every call after close() rejects with StoreClosedError", async ({ clock }) => {
    const store = await open(clock.now);
    await store.close();
    for (
      const call of [
        () => store.get(["k"]),
        () => store.commit({ set: [{ key: ["k"], value: 1 }] }),
        () => store.list(["k"]),
      ]
    ) {
      const outcome = await call().then(() => "resolved", (error: unknown) => error);
      assert.instance(outcome, StoreClosedError);
    }
  });
}
