/**
 * Parts of the JSON Schemas of operations.
 *
 * @module
 */
import type { Schema } from "./operation.ts";

type Properties = Readonly<Record<string, Schema>>;

/** A text of so many characters. */
export function text(
  description: string,
  { min = 0, max = 1024 }: { readonly min?: number; readonly max?: number } = {},
): Schema {
  return { type: "string", ...(min > 0 && { minLength: min }), maxLength: max, description };
}

/** One of some words. */
export function oneOf(words: readonly string[], description: string): Schema {
  return { type: "string", enum: words, description };
}

/** A list of texts. */
export function texts(description: string, max = 2048): Schema {
  return { type: "array", items: { type: "string", maxLength: max }, maxItems: 200, description };
}

/** A time: ISO 8601 in UTC. */
export function time(description: string): Schema {
  return { type: "string", format: "date-time", maxLength: 40, description };
}

/** A flag. */
export function flag(description: string): Schema {
  return { type: "boolean", description };
}

/** A whole number that is not negative. */
export function count(
  description: string,
  { min = 0, max }: { readonly min?: number; readonly max?: number } = {},
): Schema {
  return { type: "integer", minimum: min, ...(max !== undefined && { maximum: max }), description };
}

/** An object whose members are all there, except those in `optional`. */
export function object(properties: Properties, optional: readonly string[] = []): Schema {
  const required = Object.keys(properties).filter((name) => !optional.includes(name));
  return { type: "object", properties, required, additionalProperties: false };
}

/** An input: of its members only those in `required` must be there. */
export function input(properties: Properties, required: readonly string[] = []): Schema {
  return { type: "object", properties, required, additionalProperties: false };
}

/** Also `null`: for no value, or to remove it. */
export function orNull(schema: Schema): Schema {
  const { type, enum: words, ...rest } = schema;
  if (typeof type !== "string") return { anyOf: [schema, { type: "null" }] };
  return { type: [type, "null"], ...(Array.isArray(words) && { enum: [...words, null] }), ...rest };
}

/** Each of them also `null`. */
export function allOrNull(properties: Properties): Properties {
  return Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, orNull(schema)]));
}

/** A map from names to values. */
export function mapOf(schema: Schema, description: string): Schema {
  return { type: "object", additionalProperties: schema, maxProperties: 200, description };
}

/** What an answer with a secret has. */
export interface Secret {
  /** `null` where there is none, or where the caller chose it. */
  readonly secret: string | null;
}

/** The schema of the member of {@linkcode Secret}. */
export const SECRET: Schema = orNull(
  text("shown only in this answer; null where there is none, or where you chose it"),
);
