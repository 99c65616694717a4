import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema, type JsonSchema } from "./compile.ts";
import { accepts, problems, refuses } from "./test_accepts.ts";

const test = suite("json_schema/compile");

test("a schema as tools have it", () => {
  const schema = {
    $schema: "https://json-schema.org/draft/2020-12/schema",
    type: "object",
    properties: {
      city: { type: "string", minLength: 1, description: "Where", "x-mcp-header": "City" },
      days: { type: "integer", minimum: 1, maximum: 14, default: 1 },
      units: { enum: ["metric", "imperial"] },
      tags: { type: "array", items: { type: "string" }, uniqueItems: true },
      at: { $ref: "#/$defs/place" },
    },
    required: ["city"],
    additionalProperties: false,
    $defs: { place: { type: "object", properties: { lat: { type: "number" } }, required: ["lat"] } },
  };
  accepts(
    schema,
    [{ city: "Bern" }, { city: "Bern", days: 3, units: "metric", tags: ["a"], at: { lat: 47 } }],
    [{}, { city: "" }, { city: "Bern", day: 3 }, { city: "Bern", at: {} }, [], null, "Bern"],
  );
  assert.equal(
    problems(schema, { city: 5, days: "3", units: "us", tags: "a,b", at: { lat: "47" }, unit: 1 }),
    [
      "/city: must be string, but is 5",
      '/days: must be integer, but is "3"',
      '/units: must be one of "metric", "imperial", but is "us"',
      '/tags: must be array, but is "a,b"',
      '/at/lat: must be number, but is "47"',
      '/unit: unknown property. Known properties: "city", "days", "units", "tags", "at"',
    ],
  );
});

test("an unknown keyword is an annotation and checks nothing", () => {
  accepts({ type: "string", nullable: true, enumNames: ["A"], requierd: ["a"] }, ["a"], [null]);
  accepts({ "x-order": 1, "x-mcp-header": "A", "x-": { $ref: "#/nowhere" } }, [1], []);
  for (const name of ["toString", "constructor", "__proto__", "hasOwnProperty"]) {
    accepts(JSON.parse(`{"${name}":1,"type":"number"}`), [1], ["x"]);
  }
});

test("a keyword that is undefined is absent", () => {
  accepts(
    { type: undefined, items: undefined, $ref: undefined, $schema: undefined, $id: undefined },
    [1],
    [],
  );
});

test("a value that is not a schema is refused", () => {
  for (const schema of [null, 1, "string", [], undefined]) {
    refuses(schema, /Cannot compile schema: "#" must be a schema \(an object or a boolean\)/);
  }
});

test("an error in the target of a reference names its location", () => {
  refuses({ $ref: "#/$defs/a", $defs: { a: { type: "text" } } }, /"#\/\$defs\/a\/type" must be/);
});

test("a schema may be changed after it was compiled, to no effect", () => {
  const schema = { enum: ["a"], properties: { a: { type: "string" } }, required: ["a"] };
  const check = compileSchema(schema as JsonSchema);
  schema.enum.push("b");
  assert.is(check("b").length, 1);
});

test("values are left as they are", () => {
  const value = Object.freeze({ a: Object.freeze([Object.freeze({ b: 1 })]) });
  const schema = { properties: { a: { uniqueItems: true, items: { properties: { b: { default: 2 } } } } } };
  assert.equal(compileSchema(schema)(value), []);
});

test.run();
