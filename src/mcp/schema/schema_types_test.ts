import { suite } from "uvu";
import * as assert from "uvu/assert";
import { compileSchema } from "../../json_schema/compile.ts";
import type { FromJsonSchema } from "./schema_types.ts";

const test = suite("mcp/schema_types");

type Equal<A, B> = (<T>() => T extends A ? 1 : 2) extends (<T>() => T extends B ? 1 : 2) ? true : false;
type Schema = { readonly [keyword: string]: unknown };

/** For the type checker (`npm run check`): accepts `true` only if the schema's values have the type. */
function typed<Wanted>(): <const S extends Schema>(
  schema: S,
  equal: Equal<FromJsonSchema<S>, Wanted>,
) => void {
  return () => {};
}

/** The violations of values that the type checker accepts. */
function problems<const S extends Schema>(schema: S, ...values: FromJsonSchema<S>[]): string[] {
  return values.flatMap(compileSchema(schema)).map(({ message }) => message);
}

test("a type, or a list of types", () => {
  typed<string>()({ type: "string", maxLength: 3, format: "uri" }, true);
  typed<number>()({ type: "integer" }, true);
  typed<null>()({ type: "null" }, true);
  typed<string | boolean | null>()({ type: ["string", "boolean", "null"] }, true);
  assert.equal(problems({ type: ["number", "null"] }, 1.5, null), []);
  // @ts-expect-error: a string is not an integer
  assert.is(problems({ type: "integer" }, "1").length, 1);
});

test("objects: required and optional properties, and required names without a property", () => {
  typed<{ a: string; b: number[]; c?: boolean }>()({
    type: "object",
    properties: {
      a: { type: "string" },
      b: { type: "array", items: { type: "number" } },
      c: { type: "boolean" },
    },
    required: ["b", "a"],
  }, true);
  typed<{ a: unknown }>()({ type: "object", required: ["a"] }, true);
  const schema = { type: "object", properties: { a: { type: "string" } }, required: ["a"] } as const;
  assert.equal(problems(schema, { a: "x" }), []);
  // @ts-expect-error: a is missing
  assert.is(problems(schema, {}).length, 1);
});

test("objects: additionalProperties and patternProperties", () => {
  typed<Record<string, unknown>>()({ type: "object" }, true);
  typed<Record<string, unknown>>()({ type: "object", properties: {} }, true);
  typed<Record<string, number>>()({ type: "object", additionalProperties: { type: "number" } }, true);
  typed<Record<string, never>>()({ type: "object", additionalProperties: false }, true);
  typed<{ a?: string }>()(
    { type: "object", properties: { a: { type: "string" } }, additionalProperties: false },
    true,
  );
  const mixed = {
    type: "object",
    properties: { a: { type: "string" }, b: { type: "boolean" } },
    required: ["a"],
    additionalProperties: { type: "number" },
  } as const;
  assert.equal(problems(mixed, { a: "x" }, { a: "x", b: true, more: 1 }), []);
  const read = (value: FromJsonSchema<typeof mixed>): [string, boolean | undefined] => [value.a, value.b];
  assert.equal(read({ a: "x" }), ["x", undefined]);
  // A property that matches the pattern is not a number.
  typed<Record<string, unknown>>()(
    {
      type: "object",
      patternProperties: { "^s": { type: "string" } },
      additionalProperties: { type: "number" },
    },
    true,
  );
});

test("arrays and tuples, with their minimum length", () => {
  typed<unknown[]>()({ type: "array" }, true);
  typed<string[][]>()({ type: "array", items: { type: "array", items: { type: "string" } } }, true);
  typed<[string?, number?, ...unknown[]]>()(
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }] },
    true,
  );
  typed<[string, number?]>()(
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 1, items: false },
    true,
  );
  typed<[string, number]>()(
    { type: "array", prefixItems: [{ type: "string" }, { type: "number" }], minItems: 2, maxItems: 2 },
    true,
  );
  typed<[string, ...boolean[]]>()(
    { type: "array", prefixItems: [{ type: "string" }], minItems: 1, items: { type: "boolean" } },
    true,
  );
  assert.equal(problems({ type: "array", prefixItems: [{ type: "string" }], items: false }, [], ["x"]), []);
});

test("const and enum", () => {
  typed<"a" | 1 | null>()({ enum: ["a", 1, null] }, true);
  typed<"a" | "b">()({ type: "string", enum: ["a", "b"] }, true);
  typed<7>()({ const: 7 }, true);
  assert.equal(problems({ enum: ["a", "b"] }, "a", "b"), []);
  // @ts-expect-error: c is not in the list
  assert.is(problems({ enum: ["a", "b"] }, "c").length, 1);
});

test("anyOf, oneOf and allOf", () => {
  typed<string | number>()({ anyOf: [{ type: "string" }, { type: "number" }] }, true);
  typed<{ k: "a"; x: number } | { k: "b" }>()({
    oneOf: [
      { type: "object", properties: { k: { const: "a" }, x: { type: "number" } }, required: ["k", "x"] },
      { type: "object", properties: { k: { const: "b" } }, required: ["k"] },
    ],
  }, true);
  typed<{ a: string } & { b: number }>()({
    allOf: [
      { type: "object", properties: { a: { type: "string" } }, required: ["a"] },
      { type: "object", properties: { b: { type: "number" } }, required: ["b"] },
    ],
  }, true);
  // An alternative without a type has the type of the schema that contains it.
  typed<{ a?: string; b?: string }>()({
    type: "object",
    properties: { a: { type: "string" }, b: { type: "string" } },
    anyOf: [{ required: ["a"] }, { required: ["b"] }],
  }, true);
  typed<string>()({
    allOf: [{ type: ["string", "null"] }, { anyOf: [{ type: "string" }, { type: "number" }] }],
  }, true);
});

test("a schema without a known type has the type unknown", () => {
  typed<unknown>()({}, true);
  typed<unknown>()({ $ref: "#/$defs/a" }, true);
  typed<unknown>()({ properties: { a: { type: "string" } } }, true);
  typed<unknown>()({ type: "string" as string }, true);
  typed<unknown>()({ type: "object" } as Schema, true);
  typed<Record<string, unknown>>()({ type: "object", properties: {} as Record<string, Schema> }, true);
  typed<{ a?: string }>()(
    { type: "object", properties: { a: { type: "string" } }, required: [] as string[] },
    true,
  );
  typed<{ a?: unknown; b?: never }>()({ type: "object", properties: { a: true, b: false } }, true);
  const _any: Equal<FromJsonSchema<ReturnType<typeof JSON.parse>>, unknown> = true;
});

test("the depth of nested and recursive schemas is limited", () => {
  const items = <const S extends Schema>(schema: S) => ({ type: "array", items: schema }) as const;
  const some = <const S extends Schema>(schema: S) => ({ anyOf: [schema, { type: "null" }] }) as const;
  const six = items(items(items(items(items(items({ type: "string" }))))));
  typed<string[][][][][][]>()(six, true);
  const deeper = items(items(items(items(items(items(items(six)))))));
  const deep: FromJsonSchema<typeof deeper> = [[[[[[[[[[[["here it is unknown", 1]]]]]]]]]]]];
  assert.is(deep.length, 1);
  typed<string | null>()(some(some(some(some(some(some(some(some({ type: "string" })))))))), true);
  const turns = some(items(some(items(some(items(some(items(some(items(some(items(six))))))))))));
  const turn: FromJsonSchema<typeof turns> = [[null, [[[["here it is unknown", 1]]]]]];
  assert.is(turn?.length, 1);

  interface Node {
    readonly type: "object";
    readonly properties: {
      readonly value: { readonly type: "number" };
      readonly next: { readonly anyOf: readonly [Node, { readonly type: "null" }] };
      readonly others: { readonly type: "array"; readonly items: { readonly allOf: readonly [Node, Node] } };
    };
    readonly required: readonly ["value", "next"];
    readonly additionalProperties: Node;
  }
  const third = (node: FromJsonSchema<Node>): number | undefined => node.next?.others?.[0]?.next?.value;
  assert.type(third, "function");
});

test.run();
