import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema, type JsonSchema } from "./compile.ts";
import { nest, problems } from "./test_accepts.ts";

const test = suite("json_schema/run");
const TOO_MUCH = ": validation limit exceeded: send a smaller or simpler value";

test("the path of a violation is a JSON Pointer", () => {
  const schema = { properties: { "a/b~": { items: { type: "string" } } } };
  assert.equal(compileSchema(schema)({ "a/b~": ["", 1] }), [
    { path: "/a~1b~0/1", message: "must be string, but is 1" },
  ]);
});

test("all violations are reported at once", () => {
  const schema = {
    type: "object",
    properties: { a: { type: "string" }, b: { minimum: 2, multipleOf: 2 } },
    required: ["c"],
    additionalProperties: false,
  };
  assert.equal(problems(schema, { a: 1, b: 1, d: 1 }), [
    "/a: must be string, but is 1",
    "/b: must be at least 2, but is 1",
    "/b: must be a multiple of 2, but is 1",
    '/d: unknown property. Known properties: "a", "b"',
    ': missing required property "c"',
  ]);
});

test("at most 20 violations are reported, and then the run ends", () => {
  const bad = Array.from({ length: 100_000 }, () => 1);
  assert.is(problems({ items: { type: "string" } }, bad).length, 20);
  assert.is(problems({ allOf: Array.from({ length: 30 }, () => ({ type: "null" })) }, 1).length, 20);
  assert.is(problems({ additionalProperties: false }, { ...bad }).length, 20);
  assert.is(problems({ required: bad.slice(0, 50).map((_, i) => `r${i}`) }, {}).length, 20);
  assert.is(problems({ items: { type: "string" } }, bad.slice(0, 19)).length, 19);
});

test("messages are short for any value and schema", () => {
  const long = "x".repeat(100_000);
  assert.equal(problems({ const: 1 }, long), [": must be 1, but is a string of 100000 characters"]);
  assert.equal(problems({ maxLength: 3 }, long), [": must have at most 3 characters, but has 100000"]);
  assert.equal(problems({ type: "null" }, { [long]: long }), [": must be null, but is an object"]);
  for (
    const schema of [
      { const: long },
      { enum: Array(1000).fill("some value") },
      { required: [long] },
      { not: { not: { const: long } } },
      { contains: { const: long } },
      { pattern: "^" + long.slice(0, 5_000) + "y" },
      { properties: { [long]: {} }, additionalProperties: false },
      { anyOf: Array(20).fill({ enum: Array(1000).fill("some value") }) },
    ] as JsonSchema[]
  ) {
    for (const value of [["a"], { b: 1 }, "c"]) {
      for (const problem of problems(schema, value)) assert.ok(problem.length < 700, problem);
    }
  }
  const [problem] = problems({ additionalProperties: false }, { [long]: 1 });
  assert.ok(problem!.length < 200, problem);
});

test("a long path keeps its beginning and its end", () => {
  const path = problems({ properties: { a: { $ref: "#" } }, type: "object" }, nest(150, (a) => ({ a })))[0]!;
  assert.match(path, /^(\/a){1,60}\/…(\/a){20,60}: must be object, but is 1$/);
});

const list = { items: { $ref: "#" } };

test("a value nested deeper than schemas may stand inside each other is refused, not followed", () => {
  assert.equal(problems(list, nest(250, (item) => [item])), []);
  for (const levels of [600, 100_000]) {
    const found = problems(list, nest(levels, (item) => [item]));
    assert.is(found.length, 1);
    assert.match(found[0]!, /: is nested too deeply/);
  }
});

for (
  const [name, schema, wrap] of [
    [
      "$ref through anyOf",
      { anyOf: [{ type: "null" }, { properties: { a: { allOf: [{ $ref: "#" }] } } }] },
      "a",
    ],
    ["not", { not: { required: ["a"], properties: { a: { $ref: "#" } } } }, "a"],
    ["if", { if: { properties: { a: { $ref: "#" } } }, then: true }, "a"],
    ["contains", { contains: { $ref: "#" } }, ""],
    ["dependentSchemas", { dependentSchemas: { a: { properties: { a: { $ref: "#" } } } } }, "a"],
    ["unevaluatedItems", { unevaluatedItems: { $ref: "#" } }, ""],
    ["unevaluatedProperties", { unevaluatedProperties: { $ref: "#" } }, "a"],
    ["$dynamicRef", { $dynamicAnchor: "n", additionalProperties: { $dynamicRef: "#n" } }, "a"],
    ["uniqueItems", { items: { uniqueItems: true } }, ""],
    ["enum", { enum: [[1]] }, ""],
    ["const", { const: { a: 1 } }, "a"],
    ["a schema that applies itself without end", { $ref: "#" }, ""],
  ] as const
) {
  test(`nesting is bounded in ${name}`, () => {
    const value = nest(100_000, (inner) => wrap === "" ? [inner] : { [wrap]: inner });
    assert.ok(problems(schema, value).some((problem) => problem.includes("is nested too deeply")));
  });
}

test("a value beyond a limit is never valid", () => {
  const deep = nest(1000, (item) => [item]);
  for (const schema of [{ not: list }, { not: { not: list } }, { if: list, then: true, else: true }]) {
    const inner = { $defs: { list: { $id: "list", ...list } }, ...schema };
    assert.ok(problems(inner as JsonSchema, deep).length > 0);
  }
});

const half = (name: string) => ({ properties: { a: { $ref: "#" } }, required: [name] });

test("a value that makes alternatives multiply is refused after a number of steps", () => {
  const schema = { anyOf: [half("x"), half("y"), { type: "null" }] };
  assert.equal(problems(schema, nest(60, (a) => ({ a }))), [TOO_MUCH]);
  assert.is(problems(schema, nest(5, (a) => ({ a }))).length, 1);
});

test("the same for oneOf, and for alternatives whose annotations matter", () => {
  assert.equal(problems({ oneOf: [half("a"), half("x")] }, nest(60, (a) => ({ a }))), [TOO_MUCH]);
  const schema = { anyOf: [half("a"), half("a")], unevaluatedProperties: false };
  assert.equal(problems(schema, nest(60, (a) => ({ a }))), [TOO_MUCH]);
});

test("the number of steps is an option", () => {
  const check = (steps: number) => compileSchema({ items: { type: "number" } }, { steps })([1, 2, 3]);
  assert.is(check(4).length, 0);
  assert.match(check(3)[0]!.message, "validation limit exceeded");
});

test("large values that fit are within the steps", () => {
  const items = Array.from({ length: 100_000 }, (_, i) => ({ id: i, name: "n" }));
  const item = { type: "object", properties: { id: { type: "integer" }, name: { type: "string" } } };
  assert.equal(problems({ items: item }, items), []);
  assert.equal(problems({ uniqueItems: true }, items.slice(0, 5000)), []);
  assert.equal(problems({ uniqueItems: true }, items.slice(0, 80_000).map(({ id }) => id)), []);
  const member = Object.fromEntries(items.map(({ id }) => [`m${id}`, id]));
  assert.equal(
    problems({ patternProperties: { "^m": { type: "integer" } }, additionalProperties: false }, member),
    [],
  );
});

test("work without a schema takes steps too", () => {
  const count = (schema: JsonSchema, value: unknown) => compileSchema(schema, { steps: 1000 })(value).length;
  const many = Array.from({ length: 2000 }, (_, i) => i);
  for (
    const [schema, value] of [
      [{ uniqueItems: true }, many],
      [{ const: many }, many],
      [{ contains: true, minContains: 2000 }, many],
      [{ maxProperties: 5000 }, { ...many }],
      [{ properties: { a: true } }, { ...many }],
      [{ patternProperties: { x: true, y: true } }, { ...many.slice(0, 500) }],
      [{ propertyNames: { type: "string" } }, { ...many }],
      [{ pattern: "x" }, "a".repeat(20_000) + "x"],
      [{ pattern: "a+x" }, "a".repeat(2_000) + "x"],
      [{ minLength: 10_000 }, "a".repeat(20_000)],
    ] as const
  ) {
    assert.is(count(schema, value), 1, JSON.stringify(schema));
    assert.equal(problems(schema, value), []);
  }
});

test("one validation leaves nothing behind for the next", () => {
  const check = compileSchema({ anyOf: [half("x"), { type: "null" }] }, { steps: 100 });
  assert.ok(check(nest(60, (a) => ({ a }))).length > 0);
  assert.equal(check(null), []);
  assert.equal(check({ x: 1, a: null }), []);
  const first = check(1);
  assert.equal(check(1), first);
});

test.run();
