/**
 * The tests that every driver must pass: the test file of a driver calls {@linkcode storeContract} with a function that
 * opens an empty store. Only tests import this. Long because it is one list, all of which applies to a new driver.
 *
 * @module
 */
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { CURRENT_FORMAT, FORMAT_KEY, FORMAT_VERSION, type FormatOptions } from "./format.ts";
import { type Commit, compareAndSet, type Key, putIfAbsent, type Store, take } from "./store.ts";

/** A clock that a test can advance. It starts at the current time, since engines may have their own clocks. */
export interface TestClock {
  now: () => number;
  advance(milliseconds: number): void;
}

export interface ContractOptions {
  /** Opens an empty store with this clock. */
  readonly open: (now: () => number) => Promise<Store>;
  /** Opens the store of the last `open` again. Absent for stores that do not persist. */
  readonly reopen?: (now: () => number, options?: FormatOptions) => Promise<Store>;
  /** Rounds of the tests of concurrent commits. @default 1000 */
  readonly rounds?: number;
}

/** Registers and runs the suite. */
export function storeContract(name: string, { open, reopen, rounds = 1000 }: ContractOptions): void {
  const test = suite<{ store: Store; clock: TestClock }>(`store contract: ${name}`);

  test.before.each(async (context) => {
    let offset = 0;
    context.clock = {
      now: () => Date.now() + offset,
      advance: (milliseconds) => void (offset += milliseconds),
    };
    context.store = await open(context.clock.now);
  });
  test.after.each(async ({ store }) => {
    await store.close();
  });

  test("get() of a key that was never set is undefined", async ({ store }) => {
    assert.is(await store.get(["kind", "none"]), undefined);
  });

  test("get() returns the key, the value and a version", async ({ store }) => {
    assert.is(
      await store.commit({ set: [{ key: ["kind", 1], value: { a: [1, "two", null, true] } }] }),
      true,
    );
    const entry = await store.get(["kind", 1]);
    assert.equal(entry?.key, ["kind", 1]);
    assert.equal(entry?.value, { a: [1, "two", null, true] });
    assert.type(entry?.version, "string");
  });

  for (const value of [null, false, 0, -1.5, "", "\u0000\u0001ü𝄞", [], {}, { "": { "": [] } }]) {
    test(`get() returns the value that was set: ${JSON.stringify(value)}`, async ({ store }) => {
      await store.commit({ set: [{ key: ["value"], value }] });
      assert.equal((await store.get(["value"]))?.value, value);
    });
  }

  test("an own __proto__ member is stored as data", async ({ store }) => {
    await store.commit({ set: [{ key: ["value"], value: JSON.parse('{"__proto__":{"x":1},"y":2}') }] });
    const value = (await store.get<object>(["value"]))!.value;
    assert.equal(JSON.stringify(value), '{"__proto__":{"x":1},"y":2}');
    assert.is((value as { x?: number }).x, undefined);
  });

  test("bytes are returned as bytes, also empty and large ones", async ({ store }) => {
    const many = new Uint8Array(300_000).map((_, i) => i * 31);
    await store.commit({ set: [{ key: ["none"], value: new Uint8Array() }, { key: ["many"], value: many }] });
    assert.equal((await store.get(["none"]))?.value, new Uint8Array());
    const found = (await store.get<Uint8Array>(["many"]))!.value;
    assert.instance(found, Uint8Array);
    assert.ok(found.length === many.length && found.every((byte, i) => byte === many[i]));
  });

  test("changing an object after it was set does not change the record", async ({ store }) => {
    const value = { list: [1] };
    await store.commit({ set: [{ key: ["value"], value }] });
    value.list.push(2);
    assert.equal((await store.get(["value"]))?.value, { list: [1] });
  });

  test("every set creates another version, also with the same value and after a removal", async ({ store }) => {
    const versions = new Set<string>();
    for (let i = 0; i < 5; i++) {
      await store.commit({ set: [{ key: ["k"], value: 1 }] });
      versions.add((await store.get(["k"]))!.version);
      if (i % 2) await store.commit({ remove: [["k"]] });
    }
    assert.is(versions.size, 5);
  });

  test("commit() with a failing check sets and removes nothing", async ({ store }) => {
    await store.commit({ set: [{ key: ["a"], value: 1 }, { key: ["b"], value: 1 }] });
    const version = (await store.get(["a"]))!.version;
    const refused = await store.commit({
      check: [{ key: ["a"], version }, { key: ["b"], version: null }],
      set: [{ key: ["a"], value: 2 }, { key: ["c"], value: 2 }],
      remove: [["b"]],
    });
    assert.is(refused, false);
    assert.is((await store.get(["a"]))?.value, 1);
    assert.is((await store.get(["b"]))?.value, 1);
    assert.is(await store.get(["c"]), undefined);
  });

  test("commit() checks a version and an absence, and sets and removes in one commit", async ({ store }) => {
    await store.commit({ set: [{ key: ["old"], value: 1 }] });
    const version = (await store.get(["old"]))!.version;
    const done = await store.commit({
      check: [{ key: ["old"], version }, { key: ["new"], version: null }],
      set: [{ key: ["new"], value: 2 }],
      remove: [["old"]],
    });
    assert.is(done, true);
    assert.is(await store.get(["old"]), undefined);
    assert.is((await store.get(["new"]))?.value, 2);
  });

  test("a check of a version from before a removal fails, although the value is the same", async ({ store }) => {
    await store.commit({ set: [{ key: ["k"], value: 1 }] });
    const { version } = (await store.get(["k"]))!;
    await store.commit({ remove: [["k"]] });
    await store.commit({ set: [{ key: ["k"], value: 1 }] });
    assert.is(await compareAndSet(store, ["k"], version, 2), false);
  });

  test("removing an absent record succeeds", async ({ store }) => {
    assert.is(await store.commit({ remove: [["none"]] }), true);
  });

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

  test("list() continues after an absent key, and returns nothing with a limit of 0", async ({ store }) => {
    await store.commit({ set: [1, 3].map((n) => ({ key: ["l", n], value: n })) });
    assert.equal((await store.list(["l"], { after: ["l", 2] })).map((entry) => entry.value), [3]);
    assert.equal(await store.list(["l"], { limit: 0 }), []);
  });

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

  test("of two sets of one key in a commit the last one counts, and a set overrides a removal", async ({ store }) => {
    const key = ["twice"];
    await store.commit({ set: [{ key, value: 1 }, { key, value: 2 }], remove: [key] });
    assert.is((await store.get(key))?.value, 2);
    assert.is((await store.list(["twice"])).length, 0);
  });

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

  if (reopen) {
    const errorOf = async (clock: TestClock, allowOlder = false): Promise<Error | undefined> => {
      let store: Store | undefined;
      try {
        store = await reopen(clock.now, { allowOlder });
        await store.get(["kept"]);
      } catch (error) {
        return error as Error;
      } finally {
        await store?.close();
      }
    };
    const put = (key: Key, value: unknown) => ({ set: [{ key, value }] });

    test("a new store gets a format record and can be opened again", async ({ store, clock }) => {
      await store.commit(put(["kept"], 1));
      assert.equal((await store.get(FORMAT_KEY))?.value, CURRENT_FORMAT);
      const again = await reopen(clock.now);
      assert.is((await again.get(["kept"]))?.value, 1);
      await again.close();
    });

    test("a store without a format record gets one when no kind of its records ever changed", async ({ store, clock }) => {
      await store.commit({ ...put(["username", "ada"], "u"), remove: [FORMAT_KEY] });
      const again = await reopen(clock.now);
      assert.is((await again.get(["username", "ada"]))?.value, "u");
      assert.equal((await again.get(FORMAT_KEY))?.value, CURRENT_FORMAT);
      await again.close();
    });

    const { kinds } = CURRENT_FORMAT;
    const invalid: readonly unknown[] = [
      { version: FORMAT_VERSION + 1 },
      { version: 0 },
      { version: "1" },
      {},
      null,
      7,
      { version: FORMAT_VERSION, kinds: { ...kinds, client: kinds.client! + 1 } },
      { version: FORMAT_VERSION, kinds: { ...kinds, of_a_newer_version: 1 } },
      { version: FORMAT_VERSION, kinds, upgrading: { client: kinds.client! + 1 } },
    ];
    for (const format of invalid) {
      const { kinds: _, ...shown } = (format ?? { kinds }) as { kinds?: unknown };
      test(`a store of format ${JSON.stringify(shown)} (${invalid.indexOf(format)}) is refused`, async ({ store, clock }) => {
        await store.commit({ set: [...put(FORMAT_KEY, format).set, ...put(["kept"], 1).set] });
        for (const allowOlder of [false, true]) {
          assert.is((await errorOf(clock, allowOlder))?.name, "StoreFormatError");
        }
        assert.equal((await store.get(FORMAT_KEY))?.value, format, "the format record is unchanged");
      });
    }

    const client: Key = ["client", "c"];
    const older: readonly [name: string, commit: Commit][] = [
      ["without a format record", { ...put(client, { id: "c" }), remove: [FORMAT_KEY] }],
      ["of format 1", { set: [...put(client, { id: "c" }).set, ...put(FORMAT_KEY, { version: 1 }).set] }],
      [
        "of which a kind is older",
        put(FORMAT_KEY, { version: FORMAT_VERSION, kinds: { ...kinds, client: 1 } }),
      ],
    ];
    for (const [name, commit] of older) {
      test(`a store ${name} opens for an upgrade only, and is not marked`, async ({ store, clock }) => {
        await store.commit(commit);
        const before = (await store.get(FORMAT_KEY))?.value;
        assert.is((await errorOf(clock))?.name, "StoreFormatError");
        assert.is(await errorOf(clock, true), undefined);
        assert.equal((await store.get(FORMAT_KEY))?.value, before);
      });
    }
  }

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

  test("every call after close() rejects", async ({ clock }) => {
    const store = await open(clock.now);
    await store.close();
    for (
      const call of [
        () => store.get(["k"]),
        () => store.commit({ set: [{ key: ["k"], value: 1 }] }),
        () => store.list(["k"]),
      ]
    ) {
      const outcome = await call().then(() => "resolved", () => "rejected");
      assert.is(outcome, "rejected");
    }
  });

  test.run();
}
