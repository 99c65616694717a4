import { suite } from "uvu";
import * as assert from "uvu/assert";
import * as v from "valibot";
import * as z from "zod";
import { toFormSchema } from "./form_schema.ts";
import { type AnySchema, compileAnySchema } from "./standard_schema.ts";
import { createSchemaConverter } from "./schema_converter.ts";

const converter = createSchemaConverter();
await converter.prepare([v.object({})]);

const test = suite("mcp/form_schema");

const form = (schema: AnySchema, revision = "2026-07-28") =>
  toFormSchema(compileAnySchema(schema, "form", "input", converter.convert).jsonSchema, revision);

test("fields in the format of the specification are unchanged", () => {
  const schema = {
    type: "object",
    properties: {
      name: { type: "string", title: "Name", minLength: 1, format: "email", default: "a@b.c" },
      age: { type: "integer", minimum: 0 },
      score: { type: "number", default: 1.5 },
      sure: { type: "boolean", default: true },
      one: { type: "string", enum: ["a", "b"], default: "a" },
      titled: { type: "string", oneOf: [{ const: "a", title: "A" }, { const: "b", title: "B" }] },
      some: { type: "array", minItems: 1, items: { type: "string", enum: ["a", "b"] } },
      titledSome: { type: "array", items: { anyOf: [{ const: "a", title: "A" }] } },
    },
    required: ["name"],
  };
  assert.equal(form(schema), schema);
  const old = { type: "string", enum: ["a", "b"], enumNames: ["A", "B"] };
  assert.equal(toFormSchema({ type: "object", properties: { old } }, "2025-11-25").properties, { old });
});

const EXPECTED = {
  type: "object",
  properties: {
    colour: { type: "string", enum: ["red", "green"], default: "green" },
    kind: { type: "string", enum: ["only"] },
    size: { type: "string", enum: ["s", "m"] },
    tags: { type: "array", items: { type: "string", enum: ["x", "y"] } },
  },
  required: ["kind", "size", "tags"],
};

test("choices of valibot and zod become enums", () => {
  assert.equal(
    form(v.object({
      colour: v.optional(v.picklist(["red", "green"]), "green"),
      kind: v.literal("only"),
      size: v.union([v.literal("s"), v.literal("m")]),
      tags: v.array(v.picklist(["x", "y"])),
    })),
    EXPECTED,
  );
  assert.equal(
    form(z.object({
      colour: z.enum(["red", "green"]).default("green"),
      kind: z.literal("only"),
      size: z.union([z.literal("s"), z.literal("m")]),
      tags: z.array(z.enum(["x", "y"])),
    })),
    EXPECTED,
  );
});

test("choices with titles have the shape of the revision", () => {
  const titled = v.union([v.pipe(v.literal("s"), v.title("Small")), v.literal("m")]);
  const choices = [{ const: "s", title: "Small" }, { const: "m", title: "m" }];
  const { properties } = form(v.object({ size: titled, sizes: v.array(titled) }));
  assert.equal(properties, {
    size: { type: "string", oneOf: choices },
    sizes: { type: "array", items: { anyOf: choices } },
  });
  assert.equal(form(v.object({ size: titled }), "2025-06-18").properties, {
    size: { type: "string", enum: ["s", "m"], enumNames: ["Small", "m"] },
  });
});

test("unknown formats and further keywords of the object are omitted", () => {
  const schema = v.strictObject({ id: v.pipe(v.string(), v.uuid()), at: v.pipe(v.string(), v.isoDate()) });
  assert.equal(form(schema), {
    type: "object",
    properties: { id: { type: "string" }, at: { type: "string", format: "date" } },
    required: ["id", "at"],
  });
  assert.equal(form({ type: "object" }), { type: "object", properties: {} });
});

test("the error for an invalid field contains its name", () => {
  for (
    const field of [
      { type: "object", properties: {} },
      { type: "array", items: { type: "string" } },
      { anyOf: [{ type: "string" }, { type: "null" }] },
      { enum: [1, 2] },
      {},
      true,
    ]
  ) {
    assert.throws(() => form({ type: "object", properties: { field } }), /"field"/);
  }
});

test.run();
