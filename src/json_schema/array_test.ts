import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accepts, problems, refuses } from "./test_accepts.ts";

const test = suite("json_schema/array");

test("minItems, maxItems", () => {
  accepts({ minItems: 1, maxItems: 2 }, [[1], [1, 2], "", {}, { length: 5 }], [[], [1, 2, 3]]);
  assert.equal(problems({ minItems: 2 }, [1]), [": must have at least 2 items, but has 1"]);
  assert.equal(problems({ maxItems: 1 }, [1, 2]), [": must have at most 1 item, but has 2"]);
});

test("items: all of them, or those after prefixItems", () => {
  accepts({ items: { type: "number" } }, [[], [1, 2], "text", { 0: "a" }], [["a"], [1, "a"]]);
  accepts({ items: false }, [[]], [[1], [undefined]]);
  accepts({ items: true }, [[1, "a", null]], []);
  accepts(
    { prefixItems: [{ type: "string" }, true], items: { type: "number" } },
    [[], ["a"], ["a", null], ["a", null, 1]],
    [[1], ["a", null, "b"]],
  );
  accepts({ prefixItems: [{ type: "string" }] }, [["a", 1, null]], [[1]]);
  accepts({ prefixItems: [true, false], items: false }, [[], [1]], [[1, 2]]);
});

test("contains: one item at least, unless minContains says otherwise", () => {
  accepts({ contains: { const: 1 } }, [[1], [2, 1, 1], "x"], [[], [2]]);
  accepts({ contains: { const: 1 }, minContains: 2 }, [[1, 1], [1, 2, 1]], [[1], []]);
  accepts({ contains: { const: 1 }, maxContains: 1 }, [[1, 2]], [[], [2], [1, 1]]);
  accepts({ contains: { const: 1 }, minContains: 0 }, [[], [2], [1]], []);
  accepts({ contains: { const: 1 }, minContains: 0, maxContains: 1 }, [[], [1]], [[1, 1]]);
  accepts({ contains: { const: 1 }, minContains: 2, maxContains: 1 }, [], [[1], [1, 1]]);
  accepts({ contains: true }, [[null]], [[]]);
  accepts({ contains: false }, [1], [[], [1]]);
  accepts({ minContains: 2, maxContains: 0 }, [[], [1]], []);
});

test("uniqueItems compares by content", () => {
  accepts(
    { uniqueItems: true },
    [
      [],
      [1],
      [1, "1", true, "true", [1], ["1"], { a: 1 }, null, "null", 0, false, ""],
      [[[1], 2], [[1, 2]], [1, [2]]],
      [{ a: 1 }, { b: 1 }, { a: 1, b: 1 }, { a: "1" }, {}, []],
      ['{"a":1}', { a: 1 }, "[1]", [1]],
      [[JSON.parse("1e999")], [null]],
      "aa",
    ],
    [
      [1, 1.0],
      [0, -0],
      ["a", "b", "a"],
      [null, null],
      [{ a: 1, b: [2] }, { b: [2], a: 1 }],
      [[1], [1]],
      [{}, {}],
    ],
  );
  accepts({ uniqueItems: false }, [[1, 1]], []);
});

test("uniqueItems tells members of any name apart", () => {
  const [proto, other] = JSON.parse('[{"__proto__":1},{"__proto__":2}]');
  accepts({ uniqueItems: true }, [[proto, other, {}], [{ constructor: 1 }, {}]], [[
    proto,
    JSON.parse('{"__proto__":1}'),
  ]]);
});

test("violations have the path and the expectation", () => {
  assert.equal(problems({ items: { type: "number" } }, [1, "a", null]), [
    '/1: must be number, but is "a"',
    "/2: must be number, but is null",
  ]);
  assert.equal(problems({ items: false }, [1]), ["/0: is not allowed"]);
  assert.equal(problems({ uniqueItems: true }, [1, 2, 1]), [
    ": items must be unique, but item 2 equals an earlier item",
  ]);
  assert.equal(problems({ contains: { const: 1 } }, [2]), [
    ': must contain at least 1 item matching {"const":1}, but has 0',
  ]);
  assert.equal(problems({ contains: { const: 1 }, maxContains: 2 }, [1, 1, 1]), [
    ': must contain 1 to 2 items matching {"const":1}, but has 3',
  ]);
});

test("invalid keyword values", () => {
  refuses({ minItems: "1" }, /"#\/minItems" must be a non-negative integer/);
  refuses({ uniqueItems: 1 }, /"#\/uniqueItems" must be true or false, but is 1/);
  refuses({ prefixItems: [] }, /"#\/prefixItems" must be a non-empty array/);
  refuses({ prefixItems: {} }, /"#\/prefixItems" must be a non-empty array/);
  refuses({ prefixItems: [1] }, /"#\/prefixItems\/0" must be a schema/);
  refuses({ items: [{}] }, /"#\/items" must be a schema \(use "prefixItems" for an array of schemas\)/);
  refuses({ items: 1 }, /"#\/items" must be a schema \(an object or a boolean\), but is 1/);
  refuses({ contains: null }, /"#\/contains" must be a schema/);
  refuses({ minContains: -1 }, /"#\/minContains" must be a non-negative integer/);
  refuses({ contains: true, maxContains: "1" }, /must be a non-negative integer/);
});

test.run();
