import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accepts, problems, refuses } from "./test_accepts.ts";

const test = suite("json_schema/any");

test("type: an integer is a number without fraction; several types are alternatives", () => {
  accepts({ type: "integer" }, [1, 1.0, -0, 1e300], [1.5, "1", null, JSON.parse("1e999")]);
  accepts({ type: "number" }, [1, 1.5, JSON.parse("1e999")], ["1"]);
  accepts({ type: "string" }, [""], [0, null, []]);
  accepts({ type: "boolean" }, [true, false], [0, "true", null]);
  accepts({ type: "null" }, [null], [0, false, "", undefined, {}]);
  accepts({ type: "object" }, [{}], [[], null, "{}"]);
  accepts({ type: "array" }, [[]], [{}, { length: 0 }, "[]"]);
  accepts({ type: ["string", "null"] }, ["", null], [0, [], {}]);
  accepts({ type: ["integer", "object"] }, [1, {}], [1.5]);
});

test("a value that is not JSON has no type", () => {
  accepts({}, [undefined], []);
  for (const value of [undefined, 1n, () => 1, Symbol()]) {
    assert.is(
      problems({ type: ["string", "number", "boolean", "null", "object", "array"] }, value).length,
      1,
    );
    assert.is(problems({ enum: [1] }, value).length, 1);
  }
});

test("const and enum compare by content, whatever the order of members", () => {
  accepts({ const: { a: 1, b: [2] } }, [{ b: [2], a: 1 }], [
    { a: 1 },
    { a: 1, b: [2], c: 3 },
    '{"a":1,"b":[2]}',
  ]);
  accepts({ const: 1 }, [1, 1.0], ["1", true, [1]]);
  accepts({ const: 0 }, [-0], [false, null, ""]);
  accepts({ const: null }, [null], [0, false, undefined, "null", {}]);
  accepts({ const: [] }, [[]], [{}, null]);
  accepts({ const: false }, [false], [0, [], null]);
  accepts({ const: "null" }, ["null"], [null]);
  accepts({ enum: [1, "a", null, [1], {}] }, [1, "a", null, [1], {}], ["1", false, undefined, [], [2], {
    a: 1,
  }]);
  accepts({ enum: [] }, [], [null, 1]);
});

test("allOf, anyOf, oneOf, not", () => {
  accepts({ allOf: [{ minimum: 1 }, { maximum: 2 }] }, [1, 2, "x"], [0, 3]);
  accepts({ allOf: [{ minimum: 1 }, true, { multipleOf: 2 }] }, [2], [0, 1]);
  accepts({ allOf: [true, false] }, [], [1]);
  accepts({ anyOf: [{ type: "string" }, { minimum: 5 }] }, ["a", 5], [4]);
  accepts({ anyOf: [false, false] }, [], [1]);
  accepts({ oneOf: [{ multipleOf: 2 }, { multipleOf: 3 }] }, [2, 3], [6, 5]);
  accepts({ oneOf: [true, true, false] }, [], [1]);
  accepts({ not: { type: "null" } }, [1], [null]);
  accepts({ not: { not: { type: "null" } } }, [null], [1]);
  accepts({ not: true }, [], [1]);
  accepts({ not: false }, [1], []);
  accepts({ not: {} }, [], [1]);
});

test("if, then, else", () => {
  accepts({ if: { type: "string" }, then: { minLength: 2 }, else: { minimum: 2 } }, ["ab", 2], ["a", 1]);
  accepts({ if: { type: "string" }, then: { minLength: 2 } }, ["ab", 1], ["a"]);
  accepts({ if: { type: "string" }, else: { minimum: 2 } }, ["a", 2], [1]);
  accepts({ if: true, then: { const: 1 }, else: { const: 2 } }, [1], [2]);
  accepts({ if: false, then: { const: 1 }, else: { const: 2 } }, [2], [1]);
  accepts({ then: false, else: false }, [1], []);
});

test("applicators give the same result without reports", () => {
  const number = { allOf: [{ type: "number" }, { minimum: 1 }, { maximum: 9 }] };
  accepts({ not: number }, [0, 10, "a"], [1, 9]);
  accepts({ anyOf: [number, { const: "a" }] }, [1, "a"], [0, 10, "b"]);
  accepts({ not: { anyOf: [{ const: 1 }, { const: 2 }] } }, [3], [1, 2]);
  accepts({ not: { oneOf: [{ const: 1 }, { multipleOf: 2 }, { minimum: 4 }] } }, [3, 4], [1, 2, 5]);
  accepts({ not: { if: { minimum: 1 }, then: { maximum: 2 }, else: { const: 0 } } }, [3, -1], [1, 2, 0]);
  accepts({ not: { properties: { a: { const: 1 } }, required: ["a"] } }, [{}, { a: 2 }], [{ a: 1 }]);
  accepts({ not: { propertyNames: { maxLength: 1 } } }, [{ ab: 1 }], [{ a: 1 }, {}]);
  accepts({ not: { items: { const: 1 }, minItems: 1 } }, [[], [1, 2]], [[1]]);
  accepts({ not: { unevaluatedProperties: false, properties: { a: true } } }, [{ b: 1 }], [{ a: 1 }, {}]);
  accepts({ not: { unevaluatedItems: false, prefixItems: [true] } }, [[1, 2]], [[1], []]);
});

test("anyOf explains at most five schemas", () => {
  const none = (count: number) => problems({ anyOf: Array(count).fill({ type: "null" }) }, 1)[0]!;
  assert.match(none(5), /\(5\) must be null, but is 1$/);
  assert.match(none(6), /\(5\) must be null, but is 1, …$/);
});

test("boolean schemas, and schemas that say nothing", () => {
  accepts(true, [1, null, {}], []);
  accepts(false, [], [1, null, {}]);
  accepts({}, [1, null, {}], []);
  accepts(
    { title: "t", description: "d", default: 1, examples: [1], deprecated: true, readOnly: true },
    [2],
    [],
  );
  accepts(
    { $comment: "c", $schema: "https://json-schema.org/draft/2020-12/schema", writeOnly: true },
    [2],
    [],
  );
});

test("format and content are annotations", () => {
  accepts({ format: "email" }, ["not an address", 5], []);
  accepts({ format: "no format at all" }, ["x"], []);
  accepts(
    { contentEncoding: "base64", contentMediaType: "application/json", contentSchema: { type: "object" } },
    ["%", "eyJ9"],
    [],
  );
});

test("anyOf and oneOf explain why no schema matches", () => {
  const schema = {
    anyOf: [{ type: "string" }, { type: "object", properties: { a: { const: 1 } }, required: ["a"] }],
  };
  assert.equal(problems(schema, { a: 2 }), [
    ": must match one of 2 schemas, but matches none: (1) must be string, but is an object, (2) /a: must be 1, but is 2",
  ]);
  assert.match(
    problems({ oneOf: [{ type: "null" }] }, 1)[0]!,
    /^: must match one of 1 schema, but matches none: \(1\)/,
  );
  assert.equal(problems({ oneOf: [true, false, true] }, 1), [
    ": must match exactly one of the schemas, but matches (1) and (3)",
  ]);
});

test("violations of one schema are not reported when another schema matches", () => {
  accepts({ anyOf: [{ properties: { a: { type: "string" } } }, { required: ["a"] }] }, [{ a: 1 }], []);
  accepts({ properties: { a: { anyOf: [{ type: "null" }, { type: "string" }] }, b: { type: "null" } } }, [{
    a: "",
  }], []);
  assert.equal(
    problems({ properties: { a: { anyOf: [false, true] }, b: { type: "null" } } }, { a: 1, b: 1 }),
    [
      "/b: must be null, but is 1",
    ],
  );
});

test("messages of enum, const and not", () => {
  assert.equal(problems({ enum: ["a", 1, null] }, "b"), [': must be one of "a", 1, null, but is "b"']);
  assert.equal(problems({ const: { a: 1 } }, []), [': must be {"a":1}, but is an array of 0 items']);
  assert.equal(problems({ not: { type: "null" } }, null), [': must not match {"type":"null"}, but is null']);
  assert.equal(problems({ not: true }, 1), [": must not match true, but is 1"]);
  assert.equal(problems({ type: ["integer", "null"] }, "5"), [': must be integer or null, but is "5"']);
  assert.equal(problems(false, 1), [": is not allowed"]);
});

test("invalid keyword values", () => {
  refuses({ type: "text" }, /"#\/type" must be one of string, number, .* or an array of them, but is "text"/);
  refuses({ type: [] }, /"#\/type" must be/);
  refuses({ type: ["string", "text"] }, /"#\/type" must be/);
  refuses({ enum: "a" }, /"#\/enum" must be an array, but is "a"/);
  for (const keyword of ["allOf", "anyOf", "oneOf"]) {
    refuses({ [keyword]: {} }, new RegExp(`"#/${keyword}" must be a non-empty array`));
    refuses({ [keyword]: [] }, new RegExp(`"#/${keyword}" must be a non-empty array`));
    refuses({ [keyword]: [true, "x"] }, new RegExp(`"#/${keyword}/1" must be a schema`));
  }
  for (const keyword of ["not", "if", "then", "else"]) {
    refuses({ [keyword]: 1 }, new RegExp(`"#/${keyword}" must be a schema`));
  }
});

test.run();
