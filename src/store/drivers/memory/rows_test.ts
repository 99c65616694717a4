import { suite } from "uvu";
import * as assert from "uvu/assert";
import type { Put } from "../../store.ts";
import { memoryStore } from "../memory.ts";
import { MemoryRows } from "./rows.ts";

const test = suite("store/memory_rows");
const HOUR_MS = 3_600_000;
const YEAR_MS = 365 * 24 * HOUR_MS;

const VALUES: readonly unknown[] = [
  { scope: "read", issued: 1.5, expires: -0, more: null },
  { scope: "read", issued: "text", expires: 2, more: true },
  { list: [1, { a: 1 }], nested: { b: { c: "d" } } },
  {},
  [1, 2],
  "text",
  7,
  null,
  new Uint8Array([1, 2, 3]),
  JSON.parse('{"__proto__":{"a":1},"b":2}'),
];

for (
  const [what, expires] of [["short-lived", HOUR_MS], ["long-lived", YEAR_MS], [
    "lasting",
    undefined,
  ]] as const
) {
  test(`a ${what} record has the value that was set, whatever its shape, and so has each that replaces it`, () => {
    const rows = new MemoryRows();
    for (const [first, value] of VALUES.entries()) {
      for (const [i, other] of VALUES.entries()) {
        rows.set(`${first} ${i}`, { value: other, version: i, expires }, 0);
        rows.set(`${first} ${i}`, { value, version: 100 + i, expires }, 0);
      }
    }
    for (const [first, value] of VALUES.entries()) {
      for (const i of VALUES.keys()) {
        const found = rows.get(`${first} ${i}`)!;
        assert.equal(found.value, value);
        assert.equal([found.version, found.expires, rows.expiresOf(`${first} ${i}`)], [
          100 + i,
          expires,
          expires,
        ]);
      }
    }
    assert.is(rows.keys().length, VALUES.length ** 2);
  });
}

test("a change to the object of a writer or a reader does not change the record", () => {
  const rows = new MemoryRows();
  const given = { scope: "read", issued: 1, list: [1] };
  rows.set("a", { value: given, version: 1, expires: HOUR_MS }, 0);
  given.scope = "write";
  given.list.push(2);
  const read = rows.get("a")!.value as typeof given;
  read.issued = 2;
  assert.throws(() => read.list.push(3));
  assert.equal(rows.get("a")!.value, { scope: "read", issued: 1, list: [1] });
});

test("records that are removed make room for others, and names that are data do not", () => {
  const rows = new MemoryRows();
  const expected = new Map<string, unknown>();
  for (let i = 0; i < 10_000; i++) {
    const id = `id ${i % 3000}`;
    const value = i % 7 === 0 ? { [`name ${i}`]: i } : { i, text: `t${i}`, even: i % 2 === 0 };
    if (i % 5 === 0) {
      assert.is(rows.delete(id), expected.delete(id));
      continue;
    }
    rows.set(id, { value, version: i, expires: HOUR_MS }, 0);
    expected.set(id, value);
  }
  assert.equal(new Set(rows.keys()), new Set(expected.keys()));
  for (const [id, value] of expected) assert.equal(rows.get(id)!.value, value);
  assert.is(rows.delete("unknown"), false);
  assert.is(rows.has("unknown"), false);
  assert.is(rows.get("unknown"), undefined);
});

test("commits remove expired records a part at a time, until none is left", async () => {
  let now = 0;
  const store = memoryStore({ now: () => now });
  const set = Array.from({ length: 5000 }, (_, i): Put => ({ key: ["k", i], value: i, expires: 1000 }));
  await store.commit({ set });
  now = HOUR_MS;
  // Each reads 1,000 of them.
  for (let i = 0; i < 2; i++) await store.commit({ set: [{ key: ["other"], value: i }] });
  const left = await store.sweep();
  assert.ok(left >= 2000 && left < 5000, String(left));
  assert.is(await store.sweep(), 0);
  await store.commit({ set });
  for (let i = 0; i < 10; i++) await store.commit({ set: [{ key: ["other"], value: i }] });
  now += 2 * HOUR_MS;
  for (let i = 0; i < 10; i++) await store.commit({ set: [{ key: ["other"], value: i }] });
  assert.is(await store.sweep(), 0);
});

test.run();
