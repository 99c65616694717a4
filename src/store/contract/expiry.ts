/**
 * The tests of records that expire.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { compareAndSet, listAll, putIfAbsent } from "../store.ts";
import type { ContractSuite } from "./suite.ts";

export function expiryTests(test: ContractSuite): void {
  test("an expired record is absent for get, list and checks", async ({ store, clock }) => {
    await store.commit({ set: [{ key: ["t", "x"], value: 1, expires: clock.now() + 1000 }] });
    clock.advance(500);
    assert.is((await store.get(["t", "x"]))?.value, 1);
    assert.is(await putIfAbsent(store, ["t", "x"], 2), false);
    clock.advance(501);
    assert.is(await store.get(["t", "x"]), undefined);
    assert.equal(await store.list(["t"]), []);
    assert.is(await putIfAbsent(store, ["t", "x"], 2), true);
    assert.is((await store.get(["t", "x"]))?.value, 2);
  });

  test("list() returns as many records as asked for, however many before them have expired", async ({ store, clock }) => {
    const expires = clock.now() + 1000;
    await store.commit({
      set: Array.from({ length: 250 }, (_, i) => ({ key: ["x", i], value: i, ...(i < 140 && { expires }) })),
    });
    clock.advance(1001);
    for (const reverse of [false, true]) {
      assert.is((await store.list(["x"], { reverse })).length, 100);
      assert.is((await store.list(["x"], { limit: 110, reverse })).length, 110);
      assert.is((await store.list(["x"], { limit: 200, reverse })).length, 110);
    }
    assert.is((await Array.fromAsync(listAll(store, ["x"]))).length, 110);
  });

  test("get() and list() return expires, and no such member for a record without expiry", async ({ store, clock }) => {
    const expires = Math.ceil(clock.now()) + 5000;
    await store.commit({ set: [{ key: ["e", 1], value: 1, expires }, { key: ["e", 2], value: 2 }] });
    assert.is((await store.get(["e", 1]))?.expires, expires);
    assert.not.ok("expires" in (await store.get(["e", 2]))!);
    assert.equal((await store.list(["e"])).map((entry) => entry.expires), [expires, undefined]);
  });

  test("a check of the version of an expired record fails", async ({ store, clock }) => {
    await store.commit({ set: [{ key: ["k"], value: 1, expires: clock.now() + 1000 }] });
    const { version } = (await store.get(["k"]))!;
    clock.advance(1001);
    assert.is(await compareAndSet(store, ["k"], version, 2), false);
  });

  test("a set without expiry removes the previous expiry", async ({ store, clock }) => {
    await store.commit({ set: [{ key: ["k"], value: 1, expires: clock.now() + 1000 }] });
    await store.commit({ set: [{ key: ["k"], value: 2 }] });
    clock.advance(10_000_000);
    await store.sweep();
    assert.is((await store.get(["k"]))?.value, 2);
  });

  test("sweep() removes expired records only", async ({ store, clock }) => {
    const set = Array.from({ length: 2500 }, (_, i) => ({
      key: ["s", i],
      value: i,
      expires: i % 2 ? clock.now() + 1000 : undefined,
    }));
    await store.commit({ set });
    clock.advance(120_000);
    assert.is(await store.sweep(), 1250);
    assert.is(await store.sweep(), 0);
    assert.is((await store.list(["s"], { limit: 3000 })).length, 1250);
  });
}
