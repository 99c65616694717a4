import { suite } from "uvu";
import * as assert from "uvu/assert";
import { assertLoopIsFree } from "../../http/test_loop_watchdog.ts";
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

test("a declaration has a limited length, and takes limited time", async () => {
  const list = <Value>(count: number, make: (at: number) => Value) =>
    Array.from({ length: count }, (_, at) => make(at));
  const propertiesOf = (count: number, make: (at: number) => unknown) =>
    Object.fromEntries(list(count, (at) => [`p${at}`, make(at)]));
  const refer = (name: string) => ({ $ref: `#/$defs/${name}` });
  const all = {
    type: "object",
    properties: propertiesOf(25, () => refer("a")),
    anyOf: list(25, () => refer("a")),
    oneOf: list(25, () => refer("a")),
    allOf: list(25, () => refer("a")),
  };
  const large = { description: " x".repeat(100_000), const: "x".repeat(100_000) };
  const schemas: Record<string, Record<string, unknown>> = {
    recursive: {
      properties: propertiesOf(60, () => refer("a")),
      $defs: { a: { properties: propertiesOf(60, () => refer("a")) } },
    },
    "all keywords": { ...all, $defs: { a: all } },
    doubling: {
      ...refer("l0"),
      $defs: Object.fromEntries(
        list(6, (at) => [`l${at}`, { properties: propertiesOf(60, () => refer(`l${at + 1}`)) }]),
      ),
    },
    constants: { properties: propertiesOf(60, () => refer("a")), $defs: { a: large } },
    names: { properties: { ["x".repeat(100_000)]: {}, ["y".repeat(100_000)]: {} } },
    required: {
      properties: propertiesOf(60, () => refer("a")),
      $defs: { a: { type: "object", required: list(50_000, String) } },
    },
    types: { type: list(10_000, () => "object"), properties: propertiesOf(60, () => ({ type: "string" })) },
    references: { properties: propertiesOf(60, () => ({ $ref: "#" + "/a".repeat(50_000) })) },
  };
  for (const [what, schema] of Object.entries(schemas)) {
    await assertLoopIsFree(() => {
      const declaration = toDeclaration({ name: "a", inputSchema: schema, outputSchema: schema });
      assert.ok(declaration.length < 40_000, `${what}: ${declaration.length}`);
    });
  }
});

test("a large input leaves room for the output", () => {
  const properties = Object.fromEntries(
    Array.from({ length: 60 }, (_, at) => [`p${at}`, { enum: ["x".repeat(1000)] }]),
  );
  const outputSchema = { type: "object", properties: { found: { type: "boolean" } }, required: ["found"] };
  const declaration = toDeclaration({ name: "a", inputSchema: { properties }, outputSchema });
  assert.match(declaration, /p0\?: "x+";.*\[name: string\]: unknown \}\): Promise<\{ found: boolean \}>;$/);
});

test("a schema that is used twice is written twice", () => {
  const point = { properties: { x: { type: "number" } }, required: ["x"] };
  const schema = { properties: { a: { $ref: "#/$defs/p" }, b: { $ref: "#/$defs/p" } }, $defs: { p: point } };
  assert.is(typeOf(schema), "{ a?: { x: number }; b?: { x: number } }");
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
