/**
 * The `requestedSchema` of a form: a flat object of strings, numbers, booleans and enums, in the one form that MCP allows
 * (https://modelcontextprotocol.io/specification/2025-11-25/client/elicitation#requested-schema). Schema libraries write
 * the same in other forms.
 *
 * @module
 */
import type { JsonSchema } from "../../json_schema/compile.ts";
import { isObject } from "../../json_schema/value.ts";

type Members = Readonly<Record<string, unknown>>;

interface Choice {
  readonly const: string;
  readonly title?: string;
}

/** The formats that MCP allows. */
const FORMATS: readonly unknown[] = ["email", "uri", "date", "date-time"];
const PRIMITIVE_TYPES: readonly unknown[] = ["string", "number", "integer", "boolean"];

/** The `requestedSchema` for a client of the revision. @throws {TypeError} for a field that a form cannot have */
export function toFormSchema(schema: JsonSchema, revision: string): Record<string, unknown> {
  const { properties, required } = schema as Members;
  const fields = Object.entries(properties as Members | undefined ?? {});
  return {
    type: "object",
    properties: Object.fromEntries(fields.map(([name, schema]) => [name, toField(name, schema, revision)])),
    ...(required !== undefined && { required }),
  };
}

function toField(name: string, schema: unknown, revision: string): Members {
  const members: Members = isObject(schema) ? schema : {};
  const { enum: _enum, const: _const, anyOf: _anyOf, oneOf: _oneOf, format, ...rest } = members;
  const choices = findChoices(members);
  if (choices) {
    if (members.enumNames !== undefined) return { type: "string", ...members };
    return {
      ...rest,
      type: "string",
      ...writeChoices(choices, revision < "2025-11-25" ? "enumNames" : "oneOf"),
    };
  }
  if (members.type === "array") {
    const items = isObject(members.items) ? findChoices(members.items) : undefined;
    if (items) {
      const written = writeChoices(items, "anyOf");
      return { ...rest, items: "enum" in written ? { type: "string", ...written } : written };
    }
  }
  if (!PRIMITIVE_TYPES.includes(members.type)) {
    throw new TypeError(
      `Invalid form field "${name}": a field must be a string, a number, an integer, a boolean or an enum of strings`,
    );
  }
  return FORMATS.includes(format) ? members : rest;
}

/** The strings of an enum; `undefined` for a schema that is not an enum of strings. */
function findChoices(schema: Members): Choice[] | undefined {
  const alternatives = schema.oneOf ?? schema.anyOf;
  const values = Array.isArray(schema.enum)
    ? schema.enum.map((value) => ({ const: value }))
    : schema.const !== undefined
    ? [{ const: schema.const }]
    : Array.isArray(alternatives)
    ? alternatives
    : [];
  if (values.length === 0 || !values.every((each) => typeof each?.const === "string")) return undefined;
  return values.map(({ const: value, title }) => ({
    const: value,
    ...(typeof title === "string" && { title }),
  }));
}

/** `titles` is the keyword for choices with titles. */
function writeChoices(choices: readonly Choice[], titles: "enumNames" | "oneOf" | "anyOf"): Members {
  const values = choices.map((choice) => choice.const);
  if (choices.every(({ title }) => title === undefined)) return { enum: values };
  const named = choices.map((choice) => ({ const: choice.const, title: choice.title ?? choice.const }));
  return titles === "enumNames"
    ? { enum: values, enumNames: named.map(({ title }) => title) }
    : { [titles]: named };
}
