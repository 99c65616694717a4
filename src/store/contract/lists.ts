/**
 * The tests of lists: their order, prefixes and pages.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { type Key } from "../store.ts";
import type { ContractSuite } from "./suite.ts";

export function listTests(test: ContractSuite): void {
  const ORDER: Key[] = [
    ["o", -10],
    ["o", -0.5],
    ["o", 0],
    ["o", 2],
    ["o", 10],
    ["o", ""],
    ["o", "", "below the empty one"],
    ["o", "\u0000"],
    ["o", "\u0001"],
    ["o", "\u0002"],
    ["o", "a"],
    ["o", "a", 1],
    ["o", "a", "b"],
    ["o", "a\u0000"],
    ["o", "aa"],
    ["o", "b"],
    ["o", "ü"],
    ["o", "\uffee"],
    ["o", "𝄞"],
  ];

  test("list() returns records in key order: numbers, then strings by code point, prefixes first", async ({ store }) => {
    const shuffled = [...ORDER].sort((a, b) =>
      JSON.stringify(a).length * 7 % 5 - JSON.stringify(b).length * 7 % 5
    );
    for (const key of shuffled) await store.commit({ set: [{ key, value: key }] });
    assert.equal((await store.list(["o"])).map((entry) => entry.key), ORDER);
    assert.equal(
      (await store.list(["o"], { reverse: true })).map((entry) => entry.key),
      [...ORDER].reverse(),
    );
  });

  test("list() returns records strictly below the prefix, not keys whose last part only begins with it", async ({ store }) => {
    const keys: Key[] = [["p"], ["p", "a"], ["p", "a", 1], ["p", "ab"], ["pq", "a"], ["p", 1]];
    await store.commit({ set: keys.map((key) => ({ key, value: 1 })) });
    assert.equal((await store.list(["p"])).map((entry) => entry.key), [["p", 1], ["p", "a"], ["p", "a", 1], [
      "p",
      "ab",
    ]]);
    assert.equal((await store.list(["p", "a"])).map((entry) => entry.key), [["p", "a", 1]]);
  });

  test("list() in pages returns every record once, in both directions, while other records are set and removed", async ({ store }) => {
    await store.commit({ set: Array.from({ length: 57 }, (_, i) => ({ key: ["page", i], value: i })) });
    for (const reverse of [false, true]) {
      const seen: unknown[] = [];
      let after: Key | undefined;
      for (;;) {
        const page = await store.list(["page"], { after, limit: 10, reverse });
        if (page.length === 0) break;
        seen.push(...page.map((entry) => entry.value));
        after = page.at(-1)!.key;
        // Records may be set and removed between two pages.
        await store.commit({ set: [{ key: ["page", "zz"], value: 0 }] });
        await store.commit({ remove: [["page", "zz"]] });
      }
      const expected = Array.from({ length: 57 }, (_, i) => reverse ? 56 - i : i);
      assert.equal(seen, expected);
    }
  });

  test("list() returns no records beside the prefix after a key outside it", async ({ store }) => {
    const keys: Key[] = [["a", 1], ["b", 1], ["b", 2], ["b", 3], ["c", 1]];
    await store.commit({ set: keys.map((key) => ({ key, value: true })) });
    const found = async (after: Key, reverse: boolean) =>
      (await store.list(["b"], { after, reverse })).map(({ key }) => key[1]);
    assert.equal(await found(["a", 0], false), [1, 2, 3]);
    assert.equal(await found(["c", 1], true), [3, 2, 1]);
    assert.equal([await found(["c", 0], false), await found(["a", 2], true)], [[], []]);
  });

  test("list() continues after an absent key, and returns nothing with a limit of 0", async ({ store }) => {
    await store.commit({ set: [1, 3].map((n) => ({ key: ["l", n], value: n })) });
    assert.equal((await store.list(["l"], { after: ["l", 2] })).map((entry) => entry.value), [3]);
    assert.equal(await store.list(["l"], { limit: 0 }), []);
  });
}
