/**
 * The tests of commits at the same time.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { compareAndSet, putIfAbsent, take } from "../store.ts";
import type { ContractOptions, ContractSuite } from "./suite.ts";

export function concurrencyTests(test: ContractSuite, { rounds = 1000 }: ContractOptions): void {
  test(`exactly one of 8 concurrent commits on one key succeeds, in each of ${rounds} rounds`, async ({ store }) => {
    const CONCURRENT_COMMITS = 8;
    for (let round = 0; round < rounds; round++) {
      const key = ["race", round % 7];
      const before = await store.get(key);
      const version = before?.version ?? null;
      const outcomes = await Promise.all(
        Array.from(
          { length: CONCURRENT_COMMITS },
          (_, racer) =>
            store.commit({ check: [{ key, version }], set: [{ key, value: `${round}/${racer}` }] }),
        ),
      );
      assert.is(outcomes.filter(Boolean).length, 1, `round ${round}`);
      assert.is((await store.get(key))?.value, `${round}/${outcomes.indexOf(true)}`);
    }
  });

  test("exactly one of 1,000 concurrent commits on one key succeeds", async ({ store }) => {
    for (let round = 0; round < 5; round++) {
      const key = ["thousand", round];
      const outcomes = await Promise.all(Array.from({ length: 1000 }, (_, i) => putIfAbsent(store, key, i)));
      assert.is(outcomes.filter(Boolean).length, 1);
      assert.is((await store.get(key))?.value, outcomes.indexOf(true));
    }
  });

  test("exactly one of concurrent take() gets the value", async ({ store }) => {
    for (let round = 0; round < 50; round++) {
      await store.commit({ set: [{ key: ["take"], value: round }] });
      const taken = await Promise.all(Array.from({ length: 20 }, () => take(store, ["take"])));
      assert.equal(taken.filter((value) => value !== undefined), [round]);
      assert.is(await store.get(["take"]), undefined);
    }
  });

  test("concurrent increments with compareAndSet() all take effect", async ({ store }) => {
    await store.commit({ set: [{ key: ["count"], value: 0 }] });
    async function increment(): Promise<void> {
      for (;;) {
        const { value, version } = (await store.get<number>(["count"]))!;
        if (await compareAndSet(store, ["count"], version, value + 1)) return;
      }
    }
    await Promise.all(Array.from({ length: 40 }, increment));
    assert.is((await store.get(["count"]))?.value, 40);
  });

  test("concurrent commits of many and few keys that overlap are each applied whole", async ({ store }) => {
    const many = (name: string) => ({
      set: Array.from({ length: 300 }, (_, i) => ({ key: ["m", i], value: name })),
    });
    const few = (name: string) => ({ set: [7, 250, 40].map((i) => ({ key: ["m", i], value: name })) });
    await Promise.all(
      Array.from({ length: 30 }, (_, i) => store.commit(i % 3 ? few(`few ${i}`) : many(`many ${i}`))),
    );
    const value = async (i: number) => (await store.get(["m", i]))?.value;
    assert.equal([await value(40), await value(250)], [await value(7), await value(7)]);
    assert.is(
      new Set((await store.list(["m"], { limit: 1000 })).map((entry) => entry.value)).size <= 2,
      true,
    );
  });
}
