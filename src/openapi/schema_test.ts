import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema } from "../json_schema/compile.ts";
import { readDocument } from "./document.ts";
import type { Direction } from "./schema.ts";
import { SchemaBundle } from "./schema_bundle.ts";
import { assertLoopIsFree } from "../http/test_loop_watchdog.ts";
import { errorOf, newApi, oneOperation } from "./test_api.ts";

const test = suite("openapi/schema");

function convert(
  schema: unknown,
  { version = "3.0.3", schemas = {}, direction = "request" as Direction, limit = 20_000 } = {},
) {
  const bundle = new SchemaBundle(
    readDocument({ openapi: version, info: {}, components: { schemas } }),
    direction,
    limit,
  );
  const converted = bundle.add(schema);
  const $defs = bundle.definitions();
  compileSchema({ ...converted, ...($defs && { $defs }) });
  return { schema: converted, $defs, isWidened: bundle.isWidened };
}

const old = (schema: unknown) => convert(schema).schema;
const current = (schema: unknown) => convert(schema, { version: "3.1.0" }).schema;

test("3.0: nullable, exclusive bounds and examples become 2020-12", () => {
  assert.equal(old({ type: "string", nullable: true }), { type: ["string", "null"] });
  assert.equal(old({ type: "string", nullable: true, enum: ["a"] }), {
    type: ["string", "null"],
    enum: ["a", null],
  });
  assert.equal(old({ type: "string", nullable: true, enum: ["a", null] }).enum, ["a", null]);
  assert.equal(old({ allOf: [{ type: "object" }], nullable: true, description: "D" }), {
    description: "D",
    anyOf: [{ allOf: [{ type: "object" }] }, { type: "null" }],
  });
  assert.equal(old({ nullable: true }), {});
  assert.equal(
    old({ type: "integer", minimum: 1, exclusiveMinimum: true, maximum: 5, exclusiveMaximum: false }),
    {
      type: "integer",
      exclusiveMinimum: 1,
      maximum: 5,
    },
  );
  assert.equal(
    old({ type: "string", example: "x", xml: {}, externalDocs: {}, "x-more": 1, discriminator: {} }),
    {
      type: "string",
    },
  );
});

test("limits of bytes are not those of their base64", () => {
  const limits = { minLength: 1, maxLength: 6, pattern: "^a" };
  const base64 = { type: "string", contentEncoding: "base64" };
  assert.equal(old({ type: "string", format: "binary", ...limits }), base64);
  assert.equal(old({ not: { type: "string", format: "binary", ...limits } }), {});
  assert.equal(current({ contentMediaType: "application/octet-stream", ...limits }), {
    ...base64,
    contentMediaType: "application/octet-stream",
  });
  assert.equal(old({ type: "string", format: "byte", ...limits }), {
    type: "string",
    format: "byte",
    ...limits,
  });
});

test("3.1: what 2020-12 has is kept, also beside a reference", () => {
  const schema = {
    type: ["string", "null"],
    exclusiveMinimum: 1,
    const: "a",
    prefixItems: [{ type: "string" }],
    if: { type: "string" },
    then: { minLength: 1 },
    unevaluatedProperties: false,
    dependentRequired: { a: ["b"] },
  };
  assert.equal(current(schema), schema);
  const both = { $ref: "#/components/schemas/A", description: "Here" };
  const { schema: kept } = convert(both, { version: "3.1.0", schemas: { A: {} } });
  assert.equal(kept, { $ref: "#/$defs/A", description: "Here" });
  const { schema: dropped } = convert(both, { schemas: { A: {} } });
  assert.equal(dropped, { $ref: "#/$defs/A" });
});

test("allOf, anyOf and not are kept, and oneOf becomes anyOf", () => {
  const schema = { allOf: [{ type: "object" }], anyOf: [{ required: ["a"] }], not: { required: ["b"] } };
  assert.equal(old(schema), schema);
  assert.equal(old({ oneOf: [{ type: "integer" }, { type: "number" }] }), {
    anyOf: [{ type: "integer" }, { type: "number" }],
  });
  assert.equal(old({ anyOf: [{}], oneOf: [{ minLength: 1 }], allOf: [{ maxLength: 1 }] }), {
    allOf: [{ maxLength: 1 }, { anyOf: [{ minLength: 1 }] }],
    anyOf: [{}],
  });
});

test("what would refuse more with a wider schema in it is left out", () => {
  const wider = { pattern: "(a+)+" };
  const { schema } = convert({
    not: wider,
    if: wider,
    then: { minLength: 5 },
    contains: wider,
    maxContains: 1,
    unevaluatedProperties: false,
    patternProperties: { "(a+)+": {} },
    additionalProperties: false,
  }, { version: "3.1.0" });
  assert.equal(schema, { maxContains: 1, patternProperties: {} });
  assert.equal(current({ not: { $ref: "#/info" } }), {});
  assert.equal(current({ not: { type: "file" } }), {});
});

test("values that a keyword cannot have are left out", () => {
  assert.equal(
    old({
      type: "file",
      required: true,
      enum: "a",
      minimum: "1",
      maxLength: -1,
      multipleOf: 0,
      pattern: "(",
      properties: { a: null, b: { type: ["string", "any"] } },
      items: "x",
      allOf: [],
      patternProperties: { "[": {} },
    }),
    { properties: { a: true, b: { type: "string" } }, patternProperties: {} },
  );
});

test("a property named __proto__ is a property", () => {
  const schema = old(JSON.parse('{"properties":{"__proto__":{"type":"string"}}}'));
  assert.ok(Object.hasOwn(schema.properties as object, "__proto__"));
  assert.is(({} as Record<string, unknown>).type, undefined);
});

test("members that only the other side sends are left out", () => {
  const schema = {
    required: ["a", "b"],
    properties: { a: { type: "string", readOnly: true }, b: { type: "string", writeOnly: true } },
  };
  assert.equal(Object.keys(old(schema).properties as object), ["b"]);
  assert.equal(old(schema).required, ["b"]);
  const { schema: output } = convert(schema, { direction: "response" });
  assert.equal(Object.keys(output.properties as object), ["a"]);
});

test("members that only the other side sends are not required, wherever they are described", () => {
  const schemas = {
    Id: { type: "string", readOnly: true },
    Base: {
      type: "object",
      properties: { id: { type: "string", readOnly: true }, name: { type: "string" } },
    },
    Loop: { allOf: [{ $ref: "#/components/schemas/Loop" }] },
  };
  const Base = { $ref: "#/components/schemas/Base" };
  const required = ["id", "name"];
  const of = (schema: unknown, version = "3.0.3") => convert(schema, { schemas, version }).schema;
  assert.equal(of({ allOf: [Base], required }).required, ["name"]);
  assert.equal(of({ allOf: [Base, { type: "object", required }] }).allOf, [
    { $ref: "#/$defs/Base" },
    { type: "object", required: ["name"] },
  ]);
  assert.equal(
    of({ properties: { id: { readOnly: true } }, anyOf: [{ required }, { required: ["id"] }] }).anyOf,
    [
      { required: ["name"] },
      {},
    ],
  );
  assert.equal(of({ ...Base, required }, "3.1.0"), { $ref: "#/$defs/Base", required: ["name"] });
  const Id = { $ref: "#/components/schemas/Id" };
  for (const id of [Id, { allOf: [Id] }, { allOf: [{ $ref: "#/components/schemas/Loop" }, Id] }]) {
    assert.equal(of({ properties: { id, name: {} }, required }), {
      properties: { name: {} },
      required: ["name"],
    });
  }
  // Another schema lets the client send it.
  assert.equal(of({ allOf: [Base], properties: { id: {} }, required }).required, required);
  // It is about another object.
  assert.equal(of({ allOf: [Base], properties: { name: { required } } }).properties, { name: { required } });
});

test("references become definitions, once each, also circular ones and any JSON Pointer", () => {
  const Node = { type: "object", properties: { next: { $ref: "#/components/schemas/Node" } } };
  const { schema, $defs } = convert({ $ref: "#/components/schemas/Node" }, { schemas: { Node } });
  assert.equal(schema, { $ref: "#/$defs/Node" });
  assert.equal($defs, { Node: { type: "object", properties: { next: { $ref: "#/$defs/Node" } } } });
  const inner = convert({ items: { $ref: "#/components/schemas/Node/properties/next" } }, {
    schemas: { Node, next: { type: "string" } },
  });
  assert.equal(Object.keys(inner.$defs!).sort(), ["Node", "next"]);
  const same = convert({
    anyOf: [{ $ref: "#/components/schemas/a~1x" }, { $ref: "#/components/schemas/a_x" }],
  }, {
    schemas: { "a/x": { type: "string" }, a_x: { type: "null" } },
  });
  assert.is(Object.keys(same.$defs!).length, 2);
});

test("references to nothing, to files and to identifiers are refused", async () => {
  for (const $ref of ["#/components/schemas/None", "pet.yaml", "https://a.example/b", "#anchor", 1]) {
    assert.match(await errorOf(() => convert({ $ref })), /[Rr]eference|\$ref/);
  }
  for (const keyword of ["$id", "$dynamicRef"]) {
    assert.match(await errorOf(() => convert({ properties: { a: { [keyword]: "x" } } })), /not supported/);
  }
});

test("a schema above the limit gets wider, and stays valid for what was valid", () => {
  const big = Object.fromEntries(
    Array.from(
      { length: 60 },
      (_, i) => [`p${i}`, { type: "object", properties: { deep: { enum: ["x".repeat(50)] } } }],
    ),
  );
  const schemas = { Big: { type: "object", properties: big }, Small: { type: "string" } };
  const references = {
    properties: { small: { $ref: "#/components/schemas/Small" }, big: { $ref: "#/components/schemas/Big" } },
  };
  const { schema, $defs, isWidened } = convert(references, { schemas, limit: 1000 });
  assert.ok(isWidened);
  assert.ok(JSON.stringify({ schema, $defs }).length < 1500);
  assert.equal($defs!.Big, { type: "object" });
  assert.equal($defs!.Small, { type: "string" });
  const inline = convert({ type: "object", properties: big }, { limit: 1500 });
  assert.ok(inline.isWidened);
  assert.is(inline.schema.type, "object");
  assert.not.ok(convert(references, { schemas, limit: 100_000 }).isWidened);
});

test("what the complete schema accepts, every narrower limit accepts", () => {
  const schemas = {
    Cat: {
      type: "object",
      required: ["kind"],
      properties: { kind: { const: "cat" } },
      additionalProperties: false,
    },
    Dog: {
      type: "object",
      required: ["kind"],
      properties: { kind: { const: "dog" } },
      additionalProperties: false,
    },
  };
  const refer = (name: string) => ({ $ref: `#/components/schemas/${name}` });
  const schema = {
    type: "object",
    properties: {
      pet: { oneOf: [refer("Cat"), refer("Dog")] },
      notCat: { not: refer("Cat") },
      list: { type: "array", contains: refer("Dog"), maxContains: 1 },
      choice: { if: { properties: { kind: { const: "cat" } } }, then: { required: ["name"] } },
      rest: { allOf: [refer("Cat")], unevaluatedProperties: false },
    },
  };
  const value = {
    pet: { kind: "cat" },
    notCat: { kind: "dog" },
    list: [{ kind: "cat" }, { kind: "dog" }, { kind: "cat" }],
    choice: { kind: "dog" },
    rest: { kind: "cat" },
  };
  for (const limit of [20_000, 900, 700, 500, 300, 200, 100, 50, 10]) {
    const { schema: converted, $defs } = convert(schema, { version: "3.1.0", schemas, limit });
    assert.equal(compileSchema({ ...converted, ...($defs && { $defs }) })(value), [], String(limit));
  }
});

test("an object that contains itself, as dereferenced documents do, ends", () => {
  const node: Record<string, unknown> = { type: "object" };
  node.properties = { a: node, b: node, c: node };
  assert.ok(convert(node).isWidened);
});

test("after several definitions that do not fit, further ones are not converted", () => {
  const members = (count: number) =>
    Object.fromEntries(Array.from({ length: count }, (_, i) => [`member_${i}`, { type: "string" }]));
  const convertWith = (large: number) => {
    const names = [...Array.from({ length: large }, (_, i) => `Large${i}`), "Small"];
    const schemas = Object.fromEntries(
      names.map((name) => [name, { type: "object", properties: members(name === "Small" ? 1 : 3900) }]),
    );
    const oneOf = names.map((name) => ({ $ref: `#/components/schemas/${name}` }));
    return convert({ oneOf }, { schemas }).$defs!;
  };
  assert.equal(convertWith(2).Small, { type: "object", properties: members(1) });
  const { Large0, Small } = convertWith(20);
  assert.equal([Large0, Small], [{ type: "object" }, { type: "object" }]);
});

test("deep nesting ends", () => {
  let deep: object = { type: "string" };
  for (let i = 0; i < 5000; i++) deep = { type: "array", items: deep };
  assert.is(convert(deep).schema.type, "array");
});

test("a pattern of a document does not hold the event loop", async () => {
  for (const pattern of [`^${"(a|[ab])".repeat(25)}$`, `${"(|)".repeat(24)}x`, "^a*a*a{1000}x"]) {
    const parameters = [{ name: "q", in: "query", schema: { type: "string", pattern } }];
    const validate = compileSchema(
      newApi({ document: oneOperation({ parameters }) }).tool("op").input as Record<string, unknown>,
    );
    await assertLoopIsFree(() => validate({ q: `${"a".repeat(2000)}!` }));
    await assertLoopIsFree(() => validate({ q: `${"a".repeat(25)}!` }));
  }
});

test("a schema that the validator refuses skips its tool only", () => {
  const { tools } = newApi({
    document: oneOperation({
      parameters: [{ name: "q", in: "query", schema: { $schema: "x", type: "string" } }],
    }),
  });
  assert.is(tools.current().length, 2);
});

test("the output schema is that of the JSON object of success, and allows other objects", () => {
  const api = newApi();
  assert.is(api.tool("listPets").output, undefined);
  assert.is(newApi({ outputSchemas: false }).tool("pets_get-one").output, undefined);
  const output = api.tool("pets_get-one").output as Record<string, unknown>;
  assert.is(output.type, "object");
  const validate = compileSchema(output);
  assert.equal(validate({ id: "1", name: "Rex" }), []);
  assert.equal(validate({ name: null }), []);
  assert.not.equal(validate([]), []);
});

test.run();
