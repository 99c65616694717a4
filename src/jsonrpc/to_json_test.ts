import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toJson } from "./to_json.ts";

const test = suite("jsonrpc/to_json");

/** Arrays and objects in each other. */
function nest(levels: number): unknown {
  let value: unknown = 1;
  for (let level = 0; level < levels; level++) value = level % 2 === 0 ? [value, 2] : { value };
  return value;
}

class Row {
  readonly id = 1;
  readonly parent: unknown = this;
  toJSON(): unknown {
    return { id: this.id };
  }
}

for (
  const value of [
    undefined,
    null,
    () => 1,
    Symbol("x"),
    "text \u2028\ud800",
    NaN,
    true,
    [],
    {},
    [, undefined, () => 1],
    { a: undefined, b: new Date(0), c: new Map([[1, 2]]), d: Object.create({ inherited: 1 }) },
    new Row(),
    { rows: [new Row()] },
    nest(99),
    nest(100),
    nest(101),
    nest(600),
  ]
) {
  const text = JSON.stringify(value);
  test(`writes what JSON.stringify writes: ${String(text).slice(0, 60)}`, () => {
    assert.is(toJson(value), text);
  });
}

test("refuses a circle, at the beginning or the end of any branch, and a BigInt", () => {
  const object: Record<string, unknown> = { text: "x", date: new Date(0) };
  object.rows = [1, { object }];
  const list: unknown[] = [{}];
  list.push(list);
  for (const value of [object, list, { a: 1, list }, { toJSON: () => list }, 1n, { a: [1n] }]) {
    assert.throws(() => toJson(value), (error: unknown) => error instanceof TypeError);
  }
});

test.run();
