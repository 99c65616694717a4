import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accepts, problems, refuses } from "./test_accepts.ts";

const test = suite("json_schema/unevaluated");

test("unevaluatedProperties: what no adjacent keyword has evaluated", () => {
  const schema = {
    properties: { a: true },
    patternProperties: { "^x-": true },
    unevaluatedProperties: false,
  };
  accepts(schema, [{}, { a: 1, "x-1": 1 }, [1], "b"], [{ b: 1 }]);
  accepts({ unevaluatedProperties: { type: "number" } }, [{ a: 1 }], [{ a: "" }]);
  accepts({ unevaluatedProperties: true }, [{ a: 1 }], []);
  accepts({ additionalProperties: true, unevaluatedProperties: false }, [{ a: 1 }], []);
  accepts({ additionalProperties: { type: "number" }, unevaluatedProperties: false }, [{ a: 1 }], [{
    a: "",
  }]);
});

test("unevaluatedProperties sees through what applies to the same value", () => {
  const a = { properties: { a: true } };
  for (
    const schema of [
      { allOf: [a] },
      { anyOf: [{ type: "null" }, a] },
      { oneOf: [false, a] },
      { if: a },
      { if: true, then: a },
      { if: false, else: a },
      { dependentSchemas: { a } },
      { $ref: "#/$defs/a", $defs: { a } },
      { allOf: [{ anyOf: [{ $ref: "#/$defs/a" }] }], $defs: { a } },
    ]
  ) {
    accepts({ ...schema, unevaluatedProperties: false }, [{ a: 1 }], [{ b: 1 }, { a: 1, b: 1 }]);
  }
  accepts({ not: { not: a }, unevaluatedProperties: false }, [{}], [{ a: 1 }]);
});

test("what a failed schema evaluated does not count", () => {
  const schema = {
    anyOf: [
      { properties: { a: true, kind: { const: 1 } }, required: ["kind"] },
      { properties: { b: true, kind: { const: 2 } }, required: ["kind"] },
    ],
    unevaluatedProperties: false,
  };
  accepts(schema, [{ kind: 1, a: 1 }, { kind: 2, b: 1 }], [{ kind: 1, b: 1 }, { kind: 2, a: 1 }]);
  accepts({ if: { properties: { a: { const: 1 } } }, unevaluatedProperties: false }, [{ a: 1 }], [{ a: 2 }]);
});

test("all matching schemas evaluate, not only the first", () => {
  const schema = {
    anyOf: [{ properties: { a: true } }, { properties: { b: true } }],
    unevaluatedProperties: false,
  };
  accepts(schema, [{ a: 1, b: 1 }], [{ c: 1 }]);
});

test("unevaluatedProperties inside another: the inner one sees nothing outside, the outer one all inside", () => {
  accepts(
    { properties: { a: true }, allOf: [{ properties: { b: true }, unevaluatedProperties: false }] },
    [{ b: 1 }],
    [{ a: 1 }, { a: 1, b: 1 }],
  );
  accepts({ allOf: [{ unevaluatedProperties: { type: "number" } }], unevaluatedProperties: false }, [{
    a: 1,
  }], [{ a: "" }]);
  // What is seen of a member's value is not seen of the value.
  accepts(
    { properties: { a: { properties: { b: true } } }, unevaluatedProperties: false },
    [{ a: { b: 1 } }],
    [{ a: {}, b: 1 }],
  );
});

test("unevaluatedItems: what prefixItems, items and contains have not looked at", () => {
  accepts({ prefixItems: [true], unevaluatedItems: false }, [[], [1], { a: 1 }], [[1, 2]]);
  accepts({ items: true, unevaluatedItems: false }, [[1, 2]], []);
  accepts({ contains: { type: "string" }, unevaluatedItems: { type: "number" } }, [["a", 1]], [["a", null], [
    1,
  ]]);
  accepts({ prefixItems: [true], contains: { const: 3 }, unevaluatedItems: false }, [[1, 3], [3]], [[
    1,
    3,
    4,
  ]]);
  accepts({ unevaluatedItems: { type: "number" } }, [[1]], [["a"]]);
  accepts({ unevaluatedItems: true }, [[1]], []);
});

test("unevaluatedItems sees through what applies to the same value, and forgets what does not fit", () => {
  accepts(
    { allOf: [{ prefixItems: [true, true] }], prefixItems: [true], unevaluatedItems: false },
    [[1, 2]],
    [[1, 2, 3]],
  );
  accepts(
    { anyOf: [{ prefixItems: [{ const: 1 }, true] }, { prefixItems: [true] }], unevaluatedItems: false },
    [[1, 2], [2]],
    [[2, 2]],
  );
  accepts({ if: { items: { const: 1 } }, unevaluatedItems: false }, [[1, 1], []], [[1, 2]]);
  accepts({ allOf: [{ unevaluatedItems: { type: "number" } }], unevaluatedItems: false }, [[1]], [["a"]]);
  accepts({ if: { contains: { const: 1 } }, unevaluatedItems: { const: 2 } }, [[1, 2], [2]], [[3], [1, 3]]);
});

test("unevaluated properties are reported only when everything else is valid", () => {
  const schema = { properties: { a: { type: "string" } }, unevaluatedProperties: false };
  assert.equal(problems(schema, { a: "", b: 1 }), ["/b: unknown property"]);
  assert.equal(problems(schema, { a: 1, b: 1 }), ["/a: must be string, but is 1"]);
  assert.equal(problems({ prefixItems: [true], unevaluatedItems: false }, [1, 2]), ["/1: is not allowed"]);
});

test("invalid keyword values", () => {
  refuses({ unevaluatedProperties: 1 }, /"#\/unevaluatedProperties" must be a schema/);
  refuses({ unevaluatedItems: [] }, /"#\/unevaluatedItems" must be a schema/);
});

test.run();
