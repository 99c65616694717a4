import { suite } from "uvu";
import * as assert from "uvu/assert";
import { accepts, problems, refuses } from "./test_accepts.ts";

const test = suite("json_schema/object");

/** An object with an own member of a name that object literals treat differently. */
const proto = (value: unknown) => JSON.parse(`{"__proto__":${JSON.stringify(value)}}`);

test("properties look at members that are there", () => {
  accepts({ properties: { a: { type: "string" } } }, [{}, { a: "" }, { b: 1 }, "text", [1]], [{ a: 1 }, {
    a: null,
  }]);
  accepts({ properties: { a: true, b: false } }, [{ a: 1 }], [{ b: 1 }]);
});

test("required, with and without properties of the name", () => {
  accepts({ required: ["a", "b"] }, [{ a: 1, b: null }, [], "x"], [{}, { a: 1 }, { b: 1 }]);
  accepts({ properties: { a: true, c: true }, required: ["a", "b"] }, [{ a: 1, b: 1 }], [{ a: 1 }, { b: 1 }, {
    a: 1,
    c: 1,
  }]);
  accepts({ required: [] }, [{}], []);
});

test("patternProperties: each pattern that a name matches counts, beside properties", () => {
  const schema = {
    properties: { ab: { minimum: 1 } },
    patternProperties: { a: { maximum: 5 }, b: { type: "integer" } },
  };
  accepts(schema, [{ ab: 1 }, { a: 0.5 }, { b: 7 }, { c: "x" }], [
    { ab: 0 },
    { ab: 6 },
    { ab: 1.5 },
    { a: 6 },
    { b: 1.5 },
  ]);
});

test("additionalProperties: what neither properties nor patternProperties name", () => {
  const schema = { properties: { a: true }, patternProperties: { "^x-": true }, additionalProperties: false };
  accepts(schema, [{}, { a: 1, "x-1": 1 }], [{ b: 1 }, { "ax-": 1 }]);
  accepts({ additionalProperties: { type: "number" } }, [{ a: 1 }], [{ a: "" }]);
  accepts({ additionalProperties: true }, [{ a: "" }], []);
  accepts({ allOf: [{ properties: { a: true } }], additionalProperties: false }, [{}], [{ a: 1 }]);
});

test("propertyNames", () => {
  accepts({ propertyNames: { maxLength: 2 } }, [{}, { ab: 1 }, ["abc"]], [{ abc: 1 }]);
  accepts({ propertyNames: false }, [{}], [{ a: 1 }]);
  assert.equal(problems({ propertyNames: { maxLength: 2 } }, { abc: 1 }), [
    "/abc: the property name must have at most 2 characters, but has 3",
  ]);
  assert.is(problems({ propertyNames: { maxLength: 1 } }, { ab: 1, a: 1, cd: 1 }).length, 2);
});

test("minProperties, maxProperties", () => {
  accepts({ minProperties: 1, maxProperties: 2 }, [{ a: 1 }, { a: 1, b: 2 }, []], [{}, { a: 1, b: 2, c: 3 }]);
  assert.equal(problems({ minProperties: 1 }, {}), [": must have at least 1 property, but has 0"]);
  assert.equal(problems({ maxProperties: 0 }, { a: 1 }), [": must have at most 0 properties, but has 1"]);
});

test("dependentRequired, dependentSchemas, and dependencies of draft-07", () => {
  accepts({ dependentRequired: { a: ["b", "c"] } }, [{}, { b: 1 }, { a: 1, b: 1, c: 1 }, []], [{ a: 1 }, {
    a: 1,
    b: 1,
  }]);
  accepts({ dependentSchemas: { a: { required: ["b"] }, c: false } }, [{}, { a: 1, b: 1 }], [{ a: 1 }, {
    c: 1,
  }]);
  accepts({ dependencies: { a: ["b"], c: { maxProperties: 1 } } }, [{}, { a: 1, b: 1 }, { c: 1 }], [
    { a: 1 },
    { c: 1, d: 1 },
  ]);
  assert.equal(problems({ dependentRequired: { a: ["b"] } }, { a: 1 }), [
    ': missing required property "b", which "a" requires',
  ]);
});

test("inherited names are properties only when they are own properties", () => {
  const names = ["toString", "constructor", "hasOwnProperty", "__proto__", "valueOf"];
  for (const name of names) {
    const own = JSON.parse(`{"${name}":1}`);
    accepts({ required: [name] }, [own], [{}]);
    accepts({ properties: JSON.parse(`{"${name}":{"type":"string"}}`) }, [{}, JSON.parse(`{"${name}":""}`)], [
      own,
    ]);
    accepts({ properties: JSON.parse(`{"${name}":true}`), required: [name], additionalProperties: false }, [
      own,
    ], [{}]);
    accepts({ additionalProperties: false }, [{}], [own]);
    accepts({ properties: { a: true }, unevaluatedProperties: false }, [{}], [own]);
    accepts({ patternProperties: { ".": false } }, [{}], [own]);
    accepts({ propertyNames: { enum: ["a"] } }, [{ a: 1 }], [own]);
    accepts({ minProperties: 1 }, [own], [{}]);
    accepts({ maxProperties: 0 }, [{}], [own]);
    accepts({ dependentRequired: JSON.parse(`{"${name}":["a"]}`) }, [{}], [own]);
    accepts({ dependentSchemas: JSON.parse(`{"${name}":false}`) }, [{}], [own]);
    accepts({ const: own }, [JSON.parse(`{"${name}":1}`)], [{}, JSON.parse(`{"${name}":2}`)]);
  }
});

test("a value whose __proto__ is a member does not get that prototype's members", () => {
  accepts({ required: ["a"] }, [], [proto({ a: 1 })]);
  accepts({ properties: { a: { type: "string" } } }, [proto({ a: 1 })], []);
  assert.equal(({} as Record<string, unknown>).a, undefined);
});

test("a property that is undefined is absent, as in JSON.stringify", () => {
  accepts({ properties: { a: { type: "string" } }, additionalProperties: false }, [{
    a: undefined,
    b: undefined,
  }], []);
  accepts({ required: ["a"] }, [], [{ a: undefined }]);
  accepts({ maxProperties: 0, propertyNames: false }, [{ a: undefined }], []);
  accepts({ dependentRequired: { a: ["b"] } }, [{ a: undefined }], [{ a: 1, b: undefined }]);
});

test("violations name the missing and the known properties", () => {
  assert.equal(problems({ properties: { a: {}, b: {} }, required: ["a", "b"] }, { b: 1 }), [
    ': missing required property "a"',
  ]);
  assert.equal(problems({ properties: { a: {}, "b c": {} }, additionalProperties: false }, { d: 1 }), [
    '/d: unknown property. Known properties: "a", "b c"',
  ]);
  assert.equal(problems({ additionalProperties: false }, { d: 1 }), ["/d: unknown property"]);
  assert.equal(problems({ required: ["a"], type: "object" }, []), [
    ": must be object, but is an array of 0 items",
  ]);
});

test("invalid keyword values", () => {
  refuses({ properties: [] }, /"#\/properties" must be an object, but is \[\]/);
  refuses({ properties: { "a/b": 1 } }, /"#\/properties\/a~1b" must be a schema/);
  refuses({ patternProperties: { "(": true } }, /"#\/patternProperties\/\(" must be a regular expression/);
  refuses({ patternProperties: 1 }, /"#\/patternProperties" must be an object/);
  refuses({ additionalProperties: "no" }, /"#\/additionalProperties" must be a schema/);
  refuses({ required: "a" }, /"#\/required" must be an array of strings, but is "a"/);
  refuses({ required: [1] }, /must be an array of strings/);
  refuses({ dependentRequired: { a: "b" } }, /"#\/dependentRequired\/a" must be an array/);
  refuses({ dependentSchemas: { a: 1 } }, /"#\/dependentSchemas\/a" must be a schema/);
  refuses({ dependencies: { a: 1 } }, /"#\/dependencies\/a" must be a schema/);
  refuses({ propertyNames: 1 }, /"#\/propertyNames" must be a schema/);
  refuses({ minProperties: null }, /"#\/minProperties" must be a non-negative integer/);
});

test.run();
