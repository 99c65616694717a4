import * as v from "valibot";
import { suite } from "uvu";
import * as assert from "uvu/assert";
import { loadValibotConverter } from "./valibot_schema.ts";

const test = suite("mcp/valibot_schema");
const toJsonSchema = await loadValibotConverter();
const convert = (schema: v.GenericSchema) => toJsonSchema(schema, "input");

test("objects: required, optional, defaults, strictness, rest", () => {
  assert.equal(convert(v.object({ a: v.string(), b: v.optional(v.number(), 5) })), {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "number", default: 5 } },
    required: ["a"],
  });
  assert.equal(convert(v.strictObject({})), { type: "object", properties: {}, additionalProperties: false });
  assert.equal(convert(v.objectWithRest({}, v.boolean())).additionalProperties, { type: "boolean" });
  assert.equal(convert(v.record(v.string(), v.number())), {
    type: "object",
    propertyNames: { type: "string" },
    additionalProperties: { type: "number" },
  });
});

test("values: literals, picklists, unions, nullable, arrays, tuples", () => {
  assert.equal(convert(v.literal(7)), { const: 7 });
  assert.equal(convert(v.picklist(["a", "b"])), { type: "string", enum: ["a", "b"] });
  assert.equal(convert(v.picklist(["a", 1])), { type: ["string", "number"], enum: ["a", 1] });
  assert.equal(convert(v.union([v.string(), v.null()])), { anyOf: [{ type: "string" }, { type: "null" }] });
  assert.equal(convert(v.nullable(v.string())), { anyOf: [{ type: "string" }, { type: "null" }] });
  assert.equal(convert(v.pipe(v.array(v.string()), v.minLength(1))), {
    type: "array",
    items: { type: "string" },
    minItems: 1,
  });
  assert.equal(convert(v.strictTuple([v.string()])), {
    type: "array",
    prefixItems: [{ type: "string" }],
    minItems: 1,
    items: false,
  });
});

test("pipes: bounds, formats, patterns, descriptions", () => {
  assert.equal(convert(v.pipe(v.number(), v.integer(), v.minValue(1), v.maxValue(9))), {
    type: "integer",
    minimum: 1,
    maximum: 9,
  });
  assert.equal(convert(v.pipe(v.string(), v.email(), v.maxLength(50), v.description("Where to write"))), {
    type: "string",
    format: "email",
    maxLength: 50,
    description: "Where to write",
  });
  assert.equal(convert(v.pipe(v.string(), v.regex(/^a+$/))), { type: "string", pattern: "^a+$" });
  assert.equal(convert(v.pipe(v.string(), v.startsWith("a.b"))), { type: "string", pattern: "^a\\.b" });
});

test("pipes: several patterns become allOf", () => {
  assert.equal(convert(v.pipe(v.string(), v.startsWith("a"), v.endsWith("z"), v.regex(/b/u))), {
    type: "string",
    pattern: "^a",
    allOf: [{ pattern: "z$" }, { pattern: "b" }],
  });
});

test("nullish: null or absent, with a default", () => {
  assert.equal(convert(v.object({ a: v.nullish(v.string(), "x") })), {
    type: "object",
    properties: { a: { anyOf: [{ type: "string" }, { type: "null" }], default: "x" } },
  });
});

test("output: a member with a default is required, and is not null", () => {
  const schema = v.object({
    a: v.optional(v.number(), 1),
    b: v.optional(v.number(), () => 1),
    c: v.optional(v.number()),
    d: v.nullish(v.string(), "x"),
    e: v.nullable(v.string(), null),
  });
  assert.equal(toJsonSchema(schema, "output"), {
    type: "object",
    properties: {
      a: { type: "number", default: 1 },
      b: { type: "number" },
      c: { type: "number" },
      d: { type: "string", default: "x" },
      e: { anyOf: [{ type: "string" }, { type: "null" }], default: null },
    },
    required: ["a", "b", "d", "e"],
  });
  assert.equal(convert(schema).required, ["e"]);
});

test("output: checks before a transformation are omitted", () => {
  const schema = v.pipe(v.string(), v.description("d"), v.minLength(3), v.trim(), v.maxLength(9));
  assert.equal(toJsonSchema(schema, "output"), { type: "string", description: "d", maxLength: 9 });
  assert.equal(convert(schema), { type: "string", description: "d", minLength: 3, maxLength: 9 });
});

test("a pattern with flags that JSON Schema does not have is refused", () => {
  assert.throws(
    () => convert(v.pipe(v.string(), v.regex(/a/i))),
    /flags are not supported/,
  );
});

test("the input of a function is converted, and its output is refused", () => {
  const schema = v.pipe(v.string(), v.minLength(2), v.transform(Number));
  assert.equal(convert(schema), { type: "string", minLength: 2 });
  assert.throws(() => toJsonSchema(schema, "output"), /"transform" action cannot be converted/);
});

for (
  const schema of [
    v.date(),
    v.map(v.string(), v.string()),
    v.pipe(v.string(), v.check((text) => text !== "no")),
    v.bigint(),
  ]
) {
  test(`a schema without an equivalent in JSON Schema is refused: ${schema.type}`, () => {
    assert.throws(() => convert(schema), /cannot be converted to JSON Schema/);
  });
}

test.run();
