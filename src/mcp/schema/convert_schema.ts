/**
 * What a converter of schemas to JSON Schema gets and returns.
 *
 * @module
 */

/** What the schema is for: the arguments of a tool, always an object, or its result, any JSON value. */
export type SchemaUse = "input" | "output";

/** The part of a Standard Schema that decides how it is converted. */
export interface Convertible {
  readonly "~standard": { readonly vendor: string; readonly jsonSchema?: unknown };
}

export type ConvertSchema = (schema: Convertible, use: SchemaUse) => Record<string, unknown>;
