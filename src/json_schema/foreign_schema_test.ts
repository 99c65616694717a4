import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { compileForeignSchema } from "./foreign_schema.ts";

const test = suite("json_schema/foreign_schema");
type Schema = Record<string, unknown>;

/** Whether the value is accepted. */
const accepts = (schema: Schema, value: unknown): boolean =>
  compileForeignSchema(schema)!(value).length === 0;

test("patterns that take little time are checked", () => {
  for (
    const [pattern, fits, misses] of [
      ["^[a-z0-9-]+$", "a-1", "A"],
      ["\\s+$", "a ", "a"],
      ["^[^@]+@[^@]+$", "a@b", "ab"],
      ["^https?://", "http://x", "ftp://x"],
      ["^(?:red|orange|yellow|green|blue|violet)$", "red", "rot"],
      ["^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{12}$", "01234567-89ab-0123456789ab", "0"],
      ["^\\p{L}+$", "é", "1"],
    ] as const
  ) {
    assert.ok(accepts({ pattern }, fits), pattern);
    assert.not.ok(accepts({ pattern }, misses), pattern);
    assert.not.ok(
      accepts({ patternProperties: { [pattern]: false }, additionalProperties: true }, { [fits]: 1 }),
    );
  }
});

/** Patterns, and texts for which they take long. */
const SLOW: readonly [pattern: string, text: string][] = [
  ["(|)".repeat(26) + "x", ""],
  ["^(a+)+$", "a".repeat(40) + "!"],
  ["^(a|a)(a|a)*$", "a".repeat(40) + "!"],
  ["^" + "(?:a|a)".repeat(30) + "$", "a".repeat(30) + "!"],
  ["a*a*a*b", "a".repeat(3000)],
  ["[^x]*" + "[^y]{99}".repeat(60), "é".repeat(3000)],
  ["[^x]*" + "[^y]".repeat(120) + "z", "é".repeat(3000)],
  ["^(a)\\1*$", "a".repeat(3000)],
  ["^(?=(a+))\\1b", "a".repeat(3000)],
];

for (const [pattern, text] of SLOW) {
  test(`a pattern that may take long is not run: ${pattern.slice(0, 40)}`, async () => {
    await assertLoopIsFree(() => {
      assert.ok(accepts({ pattern }, text));
      assert.ok(accepts({ patternProperties: { [pattern]: false } }, { [text]: 1 }));
      // A reference makes a schema of any object.
      assert.ok(accepts({ $ref: "#/x-a/const", "x-a": { const: { pattern } } }, text));
      assert.ok(accepts({ $ref: "#/x-a/properties", "x-a": { properties: { pattern } } }, text));
    });
  });
}

test("the time to parse patterns is limited", async () => {
  for (
    const pattern of [
      "\\p{L}".repeat(50_000),
      `[${"\\p{L}".repeat(50_000)}]`,
      Array.from({ length: 20_000 }, (_, i) => `(?<a${i}>x)`).join(""),
    ]
  ) await assertLoopIsFree(() => assert.ok(accepts({ pattern }, "1")));
  const properties = Object.fromEntries(
    Array.from({ length: 500 }, (_, i) => [`p${i}`, { pattern: `[${"\\p{L}".repeat(80)}]{${i + 1}}` }]),
  );
  await assertLoopIsFree(() => assert.ok(accepts({ properties }, { p0: "1" })));
});

test("without one of its patterns, a schema refuses nothing that it accepts", () => {
  const pattern = "^(a+)+$";
  const cases: [Schema, unknown][] = [
    [{ not: { pattern } }, "b"],
    [{ if: { pattern }, then: false }, "b"],
    [{ oneOf: [{ pattern }, { const: "b" }] }, "b"],
    [{ contains: { pattern }, maxContains: 1 }, ["a", "b"]],
    [{ patternProperties: { [pattern]: true }, additionalProperties: false }, { a: 1 }],
    [{ allOf: [{ patternProperties: { [pattern]: true } }], unevaluatedProperties: false }, { a: 1 }],
    [{ const: { pattern } }, { pattern }],
    [{ enum: [{ pattern }] }, { pattern }],
  ];
  for (const [schema, value] of cases) assert.ok(accepts(schema, value), JSON.stringify(schema));
});

test("the rest of the schema is checked", () => {
  const schema = {
    properties: { a: { type: "string", pattern: "^(a+)+$" }, b: { type: "number" } },
    required: ["a"],
  };
  assert.ok(accepts(schema, { a: "b", b: 1 }));
  for (const value of [{}, { a: 1 }, { a: "a", b: "1" }]) assert.not.ok(accepts(schema, value));
  assert.not.ok(accepts({ not: { const: 1 }, properties: { a: { pattern: "^a" } } }, 1));
});

const repeat = (count: number, schemaOf: (i: number) => unknown): Schema => ({
  properties: Object.fromEntries(Array.from({ length: count }, (_, i) => [`p${i}`, schemaOf(i)])),
});
const nested = (depth: number): unknown => depth === 0 ? {} : { anyOf: [nested(depth - 1)] };

for (
  const [what, schema] of [
    ["empty subschemas", repeat(9900, () => ({}))],
    [
      "keywords",
      repeat(
        1200,
        () => ({ type: ["string"], minLength: 1, maxLength: 2, enum: [1, 2], const: 1, required: [] }),
      ),
    ],
    ["references", repeat(9900, (i) => ({ $ref: `#/properties/p${(i + 1) % 9900}` }))],
    ["identifiers", repeat(5000, (i) => ({ $id: `http://a/${i}` }))],
    [
      "dynamic references",
      repeat(900, (i) => ({ $id: `http://a/${i}`, $dynamicAnchor: "a", $dynamicRef: "#a" })),
    ],
    ["nested subschemas", { anyOf: Array.from({ length: 99 }, () => nested(100)) }],
    ["values", repeat(1, () => ({ enum: Array.from({ length: 200_000 }, (_, i) => i) }))],
    ["array levels", JSON.parse('{"x":' + "[".repeat(5000) + "]".repeat(5000) + "}")],
  ] as [string, Schema][]
) {
  test(`a schema of many ${what} is not compiled`, async () => {
    await assertLoopIsFree(() => assert.is(compileForeignSchema(schema), undefined));
  });
}

test("large schemas within the limits are compiled, and do not hold the event loop", async () => {
  for (
    const schema of [
      repeat(2400, () => ({ type: "string" })),
      repeat(2400, (i) => ({ $ref: `#/properties/p${(i + 1) % 2400}` })),
      repeat(1200, (i) => ({ $id: `http://a/${i}`, type: ["string", "null"], minLength: 1 })),
      repeat(50, (i) => ({ $id: `http://a/${i}`, $dynamicAnchor: "a", $dynamicRef: "#a" })),
    ]
  ) await assertLoopIsFree(() => assert.type(compileForeignSchema(schema), "function"));
});

test("an invalid schema is refused, and the given one is not changed", () => {
  for (const pattern of ["(", "\\", "[", 1]) {
    assert.throws(() => compileForeignSchema({ pattern }), (error: Error) => error instanceof TypeError);
  }
  assert.throws(() => compileForeignSchema({ properties: { pattern: "^(a+)+$" } }));
  const schema = { properties: { __proto__: null, a: { pattern: "^(a+)+$" } } };
  const before = JSON.stringify(schema);
  compileForeignSchema(schema);
  assert.is(JSON.stringify(schema), before);
});

test.run();
