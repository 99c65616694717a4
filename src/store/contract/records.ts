/**
 * The tests of reading and committing records.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { compareAndSet } from "../store.ts";
import type { ContractSuite } from "./suite.ts";

export function recordTests(test: ContractSuite): void {
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

  test("of two sets of one key in a commit the last one counts, and a set overrides a removal", async ({ store }) => {
    const key = ["twice"];
    await store.commit({ set: [{ key, value: 1 }, { key, value: 2 }], remove: [key] });
    assert.is((await store.get(key))?.value, 2);
    assert.is((await store.list(["twice"])).length, 0);
  });
}
