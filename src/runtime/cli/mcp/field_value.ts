/**
 * Turns text into the value of one member, as its JSON Schema says, and checks it.
 *
 * @module
 */
import { compileForeignSchema } from "../../../json_schema/foreign_schema.ts";
import { isObject } from "../../../json_schema/value.ts";
import type { JsonObject } from "../../../mcp_client/client.ts";

/** One of the values that a field can have. */
export interface Choice {
  readonly value: unknown;
  readonly title: string;
}

/** The values that a schema lists; `undefined` when it lists none. */
export function findChoices(schema: Readonly<JsonObject>): readonly Choice[] | undefined {
  const { enum: values, enumNames: names } = schema;
  if (Array.isArray(values)) {
    return values.map((value, i) => ({
      value,
      title: String((Array.isArray(names) && names[i]) || toText(value)),
    }));
  }
  const alternatives = schema.oneOf ?? schema.anyOf;
  if (!Array.isArray(alternatives) || alternatives.length === 0) return undefined;
  const choices = alternatives.flatMap((each) =>
    isObject(each) && each.const !== undefined
      ? [{ value: each.const, title: String(each.title ?? toText(each.const)) }]
      : []
  );
  return choices.length === alternatives.length ? choices : undefined;
}

/** The types that a schema allows; none when it does not say. */
export function typesOf({ type }: Readonly<JsonObject>): readonly string[] {
  return (Array.isArray(type) ? type : [type]).filter((each) => typeof each === "string");
}

/**
 * The value that a text stands for: a number, `true`, a choice by its number, JSON for objects, values with commas between
 * them for lists.
 * @param byNumber whether choices can be given by their number
 * @throws {TypeError} with what is expected
 */
export function parseValue(text: string, schema: Readonly<JsonObject>, byNumber = false): unknown {
  const choices = findChoices(schema);
  if (choices) {
    const exact = choices.find(({ value, title }) => toText(value) === text || title === text);
    const found = exact ?? (byNumber && /^\d{1,6}$/.test(text) ? choices[Number(text) - 1] : undefined);
    if (found) return found.value;
    throw new TypeError(`must be one of ${choices.map(({ value }) => toText(value)).join(", ")}`);
  }
  const types = typesOf(schema);
  for (const type of types) {
    const value = type === "string" ? undefined : parseTyped(text, type, schema, byNumber);
    if (value !== undefined) return value;
  }
  if (types.includes("string")) return text;
  if (types.length > 0) throw new TypeError(`must be ${types.map(describeType).join(" or ")}`);
  return parseJson(text) ?? text;
}

/** What is wrong with a value; empty when nothing is, or the schema cannot be used alone. */
export function checkValue(
  value: unknown,
  schema: unknown,
  root: Readonly<JsonObject> = {},
): readonly string[] {
  const { $schema, $defs, definitions } = root;
  const shared = Object.entries({ $schema, $defs, definitions }).filter(([, each]) => each !== undefined);
  if (!isObject(schema)) return [];
  try {
    const validate = compileForeignSchema({ ...Object.fromEntries(shared), ...schema });
    return (validate?.(value) ?? []).map(({ path, message }) => path === "" ? message : `${path} ${message}`);
  } catch {
    // The schema is invalid, or refers to other parts of its document: the server checks.
    return [];
  }
}

/** Text as it is, everything else as JSON. */
export function toText(value: unknown): string {
  return typeof value === "string" ? value : JSON.stringify(value) ?? "";
}

function parseTyped(text: string, type: string, schema: Readonly<JsonObject>, byNumber: boolean): unknown {
  const value = parseJson(text);
  if (type === "number" || type === "integer") return typeof value === "number" ? value : undefined;
  if (type === "boolean") {
    return /^(true|yes|y)$/i.test(text) ? true : /^(false|no|n)$/i.test(text) ? false : undefined;
  }
  if (type === "null") return value === null ? null : undefined;
  if (type === "object") return isObject(value) ? value : undefined;
  if (type !== "array") return undefined;
  if (Array.isArray(value)) return value;
  const items = isObject(schema.items) ? schema.items : {};
  return text.split(",").map((each) => parseValue(each.trim(), items, byNumber));
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

function describeType(type: string): string {
  if (type === "boolean") return "true or false";
  if (type === "object") return "an object in JSON";
  if (type === "array") return "values with commas between them, or a list in JSON";
  return type === "null" ? "null" : type === "integer" ? "a whole number" : `a ${type}`;
}
