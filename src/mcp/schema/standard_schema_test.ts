import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import { z } from "zod";
import { z as z3 } from "zod/v3";
import {
  type AnySchema,
  compileAnySchema as compile,
  type Parsed,
  type StandardSchema,
  type Unparsed,
} from "./standard_schema.ts";
import { createSchemaConverter } from "./schema_converter.ts";

const converter = createSchemaConverter();
await converter.prepare([v.object({})]);
const compileAnySchema = (schema: AnySchema, name: string, use?: "input" | "output") =>
  compile(schema, name, use, converter.convert);

const test = suite("mcp/standard_schema");

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;

const RAW = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;

/** A schema of another library, such as arktype, whose schemas are functions with the JSON Schema extension. */
function foreign<Input, Output>(
  jsonSchema: StandardSchema["~standard"]["jsonSchema"],
  validate: StandardSchema<Input, Output>["~standard"]["validate"],
): StandardSchema<Input, Output> {
  const standard = { version: 1, vendor: "foreign", validate, ...(jsonSchema && { jsonSchema }) } as const;
  return Object.assign(() => {}, { "~standard": standard });
}

test("Parsed<> is the output type of a schema, or the values of raw JSON Schema", () => {
  const _raw: Equal<Parsed<typeof RAW>, { a: string }> = true;
  const _wide: Equal<Parsed<{ readonly [keyword: string]: unknown }>, Record<string, unknown>> = true;
  const _typeIsText: Equal<Parsed<{ type: string }>, Record<string, unknown>> = true;
  const valibot = v.object({ a: v.optional(v.number(), 1) });
  const _valibot: Equal<Parsed<typeof valibot>, { a: number }> = true;
  const zod = z.object({ a: z.number().default(1), b: z.string().optional() });
  const _zod: Equal<Parsed<typeof zod>, { a: number; b?: string | undefined }> = true;
  const own = foreign<{ a: string }, { a: number }>(undefined, () => ({ value: { a: 1 } }));
  const _foreign: Equal<Parsed<typeof own>, { a: number }> = true;
});

test("Unparsed<> is the input type of a schema, read-only for raw JSON Schema", () => {
  const _raw: Equal<Unparsed<typeof RAW>, { readonly a: string }> = true;
  const _list: Equal<
    Unparsed<{ type: "array"; items: { type: "array"; items: { type: "string" } } }>,
    readonly (readonly string[])[]
  > = true;
  const _wide: Equal<Unparsed<{ readonly [keyword: string]: unknown }>, unknown> = true;
  const valibot = v.object({ a: v.optional(v.number(), 1) });
  const _valibot: Equal<Unparsed<typeof valibot>, { a?: number | undefined }> = true;
  const zod = z.object({ a: z.number().default(1) });
  const _zod: Equal<Unparsed<typeof zod>, { a?: number | undefined }> = true;
  // @ts-expect-error: a must be a string
  const _wrong: Unparsed<typeof RAW> = { a: 1 };
});

test("AnySchema accepts schemas of each library", () => {
  const all: AnySchema[] = [RAW, v.object({}), z.object({}), foreign(undefined, () => ({ value: {} }))];
  assert.is(all.length, 4);
});

test("raw JSON Schema is published unchanged and validates", () => {
  const { jsonSchema, parse } = compileAnySchema(RAW, "x");
  assert.is(jsonSchema, RAW);
  assert.equal(parse({ a: "1" }), { value: { a: "1" } });
  const problemsOf = (value: unknown) => (parse(value) as { problems: string[] }).problems;
  assert.is(problemsOf({ a: 1 }).length, 1);
  assert.match(problemsOf({ a: 1 })[0]!, /^\/a: .*string/);
  assert.is(problemsOf(1).length, 1);
  assert.match(problemsOf(1)[0]!, /arguments: .*object/);
});

for (const schema of [{}, { type: "array" }, { type: ["object", "null"] }, { properties: {} }]) {
  test(`${JSON.stringify(schema)} is refused for arguments and accepted for results`, () => {
    assert.throws(
      () => compileAnySchema(schema, "x"),
      /^Cannot define "x": .*"type": "object"/,
    );
    assert.is(compileAnySchema(schema, "x", "output").jsonSchema, schema);
  });
}

test("a result may be any JSON value", () => {
  const list = { type: "array", items: { type: "number" } };
  assert.equal(compileAnySchema(list, "x", "output").parse([1]), { value: [1] });
  const { problems } = compileAnySchema(list, "x", "output").parse("1") as { problems: string[] };
  assert.is(problems.length, 1);
  assert.match(problems[0]!, /result: .*array/);
  assert.equal(compileAnySchema(v.string(), "x", "output").jsonSchema, { type: "string" });
  assert.equal(compileAnySchema(v.string(), "x", "output").parse("a"), { value: "a" });
});

test("the error for an invalid schema has the name of the definition and the cause", () => {
  assert.throws(
    () => compileAnySchema({ type: "object", properties: { a: { type: "text" } } }, "x"),
    (error: Error) =>
      error instanceof TypeError && error.cause instanceof TypeError &&
      /^Cannot define "x": .*input schema.*#\/properties\/a\/type/.test(error.message),
  );
});

test("what is no schema is refused by the name of the definition", () => {
  for (const schema of [undefined, null, "text", 1, []]) {
    for (const use of ["input", "output"] as const) {
      assert.throws(
        () => compileAnySchema(schema as never, "x", use),
        (error: Error) => error instanceof TypeError && error.message.startsWith('Cannot define "x": '),
        `${JSON.stringify(schema)}, ${use}`,
      );
    }
  }
});

test("valibot: a member with a default is optional in arguments and required in results", () => {
  const schema = v.object({ a: v.optional(v.number(), 1) });
  const properties = { a: { type: "number", default: 1 } };
  assert.equal(compileAnySchema(schema, "x").jsonSchema, { type: "object", properties });
  const { jsonSchema, parse } = compileAnySchema(schema, "x", "output");
  assert.equal(jsonSchema, { type: "object", properties, required: ["a"] });
  assert.equal(parse({}), { value: { a: 1 } });
});

test("zod: its extension converts input and output to JSON Schema", async () => {
  const schema = z.object({ a: z.number().default(1), b: z.array(z.string()).optional() });
  const input = compileAnySchema(schema, "x");
  assert.is((input.jsonSchema as Record<string, unknown>).required, undefined);
  assert.equal(await input.parse({ b: ["y"] }), { value: { a: 1, b: ["y"] } });
  const { problems } = await input.parse({ b: ["y", 1] }) as { problems: string[] };
  assert.match(problems[0]!, /^\/b\/1: /);
  const output = compileAnySchema(schema, "x", "output");
  assert.equal((output.jsonSchema as Record<string, unknown>).required, ["a"]);
  assert.is(JSON.parse(JSON.stringify(output.jsonSchema)).type, "object");
});

test("zod: asynchronous checks are awaited", async () => {
  const { parse } = compileAnySchema(z.object({ a: z.string().refine(async (a) => a === "y") }), "x");
  assert.equal(await parse({ a: "y" }), { value: { a: "y" } });
  assert.ok("problems" in await parse({ a: "n" }));
});

test("a schema that a library cannot convert to JSON Schema throws a TypeError with the reason", () => {
  assert.throws(
    () => compileAnySchema(z.object({ a: z.date() }), "x"),
    (error: Error) =>
      error instanceof TypeError && /^Cannot define "x": .*input schema.* Date/.test(error.message),
  );
  // Only the input of a function is known.
  const transformed = z.object({ a: z.string().transform(Number) });
  assert.throws(() => compileAnySchema(transformed, "x", "output"), /^Cannot define "x": .*output schema/);
  assert.equal(compileAnySchema(transformed, "x").parse({ a: "1" }), { value: { a: 1 } });
});

test("if all alternatives are objects, the root has the type that MCP requires", () => {
  const first = z.object({ kind: z.literal("a"), a: z.string() });
  const second = z.object({ kind: z.literal("b") });
  const { jsonSchema } = compileAnySchema(z.discriminatedUnion("kind", [first, second]), "x");
  assert.is((jsonSchema as Record<string, unknown>).type, "object");
  const variant = v.variant("kind", [
    v.object({ kind: v.literal("a") }),
    v.intersect([v.object({ kind: v.literal("b") }), v.object({ b: v.string() })]),
  ] as never);
  assert.is((compileAnySchema(variant, "x").jsonSchema as Record<string, unknown>).type, "object");
  assert.throws(
    () => compileAnySchema(z.union([first, z.string()]), "x"),
    /^Cannot define "x": .*input schema must describe an object/,
  );
});

test("a schema with an id, which is a reference to a definition, describes an object if that does", () => {
  const query = z.object({ a: z.string() }).meta({ id: "standard_schema_test_query" });
  const tree = z.object({
    get children() {
      return z.array(tree);
    },
  }).meta({ id: "standard_schema_test_tree" });
  for (const schema of [query, tree]) {
    const { jsonSchema } = compileAnySchema(schema, "x") as { jsonSchema: Record<string, unknown> };
    assert.is(jsonSchema.type, "object");
    assert.type(jsonSchema.$ref, "string");
  }
  const text = z.string().meta({ id: "standard_schema_test_text" });
  assert.throws(() => compileAnySchema(text, "x"), /^Cannot define "x": the input schema must describe/);
});

test("references in a circle describe no object", () => {
  const circle = { $ref: "#/$defs/a", $defs: { a: { $ref: "#/$defs/b" }, b: { $ref: "#/$defs/a" } } };
  assert.throws(
    () => compileAnySchema(foreign({ input: () => circle }, (value) => ({ value })), "x"),
    /^Cannot define "x": the input schema must describe/,
  );
});

test("another library: paths become JSON pointers, and results use the input's schema", async () => {
  const schema = foreign({ input: () => ({ type: "object" }) }, (value) =>
    Promise.resolve(
      value === 1
        ? { value }
        : { issues: [{ message: "no", path: ["a/b", { key: "c~d" }] }, { message: "nor" }] },
    ));
  assert.equal(await compileAnySchema(schema, "x").parse(1), { value: 1 });
  assert.equal(await compileAnySchema(schema, "x").parse(2), {
    problems: ["/a~1b/c~0d: no", "the arguments: nor"],
  });
  assert.equal(compileAnySchema(schema, "x", "output").jsonSchema, { type: "object" });
});

test("a library without JSON Schema is refused", () => {
  const schema = foreign(undefined, (value) => ({ value }));
  assert.throws(
    () => compileAnySchema(schema, "x"),
    /^Cannot define "x": .*foreign .*JSON Schema.* "toJsonSchema"/,
  );
});

test("zod 3 is refused, with the version to install", () => {
  assert.throws(
    () => compileAnySchema(z3.object({ a: z3.number() }), "x"),
    (error: Error) => error instanceof TypeError && /^Cannot define "x": .*zod 4/.test(error.message),
  );
});

test("an object whose values are schemas is refused, with the call that makes one schema of it", () => {
  for (const fields of [{ a: z.number() }, { a: z3.number() }, { a: v.number() }]) {
    for (const use of ["input", "output"] as const) {
      assert.throws(
        () => compileAnySchema(fields, "x", use),
        (error: Error) =>
          error instanceof TypeError && /^Cannot define "x": .*z\.object\(/.test(error.message),
      );
    }
  }
});

test("valibot without its converter is refused, with the package to install", () => {
  assert.throws(
    () => compile(v.object({}), "x"),
    (error: Error) => error instanceof TypeError && error.message.includes("@valibot/to-json-schema"),
  );
});

test.run();
