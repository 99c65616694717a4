import { suite } from "uvu";
import * as assert from "uvu/assert";
import { toDeclaration } from "./declarations.ts";

const test = suite("gateway/declarations");
const typeOf = (schema: unknown): string =>
  /Promise<(.*)>;$/s.exec(toDeclaration({ name: "a", inputSchema: {}, outputSchema: schema }))![1]!;

test("types of JSON Schema", () => {
  const cases: [unknown, string][] = [
    [{ type: "integer" }, "number"],
    [{ type: ["string", "null"] }, "string | null"],
    [{ const: "a" }, '"a"'],
    [{ enum: ["a", 1, null] }, '"a" | 1 | null'],
    [{ type: "array", items: { enum: ["a", "b"] } }, '("a" | "b")[]'],
    [{ type: "array" }, "unknown[]"],
    [{ anyOf: [{ type: "string" }, { type: "array", items: { type: "string" } }] }, "string | string[]"],
    [
      { allOf: [{ type: "object", properties: { a: {} } }, { oneOf: [{ const: 1 }, { const: 2 }] }] },
      "{ a?: unknown } & (1 | 2)",
    ],
    [{ type: "object", additionalProperties: { type: "number" } }, "{ [name: string]: number }"],
    [{ type: "object", properties: { "a b": { type: "boolean" } }, required: ["a b"] }, '{ "a b": boolean }'],
    [{ $ref: "#/$defs/x~1y", $defs: { "x/y": { type: "null" } } }, "null"],
    [{ $ref: "#/$defs/none" }, "unknown"],
    [{ $ref: "https://example.com/schema" }, "unknown"],
    [{ $ref: "#/%" }, "unknown"],
    [true, "unknown"],
  ];
  for (const [schema, type] of cases) assert.is(typeOf(schema), type, JSON.stringify(schema));
});

test("circular and deep schemas end, and a large one is cut", () => {
  const circular = { $ref: "#/$defs/a", $defs: { a: { properties: { next: { $ref: "#/$defs/a" } } } } };
  assert.match(typeOf(circular), /next\?: unknown/);
  const wide = {
    properties: Object.fromEntries(Array.from({ length: 500 }, (_, at) => [`p${at}`, circular])),
  };
  assert.ok(typeOf(wide).length < 20_000);
});

test("a comment cannot end early, and a name that is no identifier is quoted", () => {
  const declaration = toDeclaration({
    name: "get-it",
    description: "Ends */ evil()\nand more",
    inputSchema: {
      type: "object",
      properties: { a: { type: "string", description: "*/ x" } },
      required: ["a"],
    },
    outputSchema: undefined,
  });
  assert.is(
    declaration,
    '/** Ends * / evil() and more */\n"get-it"(input: { /** * / x */ a: string }): Promise<string>;',
  );
});

test.run();
