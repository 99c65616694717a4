/**
 * Libraries of schemas that make no JSON Schema of their own: whoever uses one says what does. `mod.ts` says it for valibot.
 *
 * @module
 */

/** Arguments of a tool, which are always an object, or its result, which may be any JSON. */
export type SchemaUse = "input" | "output";

/**
 * JSON Schema 2020-12 of a schema, for arguments or for results. `name` is what is being defined.
 * @throws {TypeError} naming what JSON Schema cannot say
 */
export type ToJsonSchema = (schema: unknown, name: string, use: SchemaUse) => Record<string, unknown>;

const converters = new Map<string, ToJsonSchema>();

/** Makes JSON Schema of a vendor's schemas (`~standard.vendor`) with `convert`, from now on. */
export function convertSchemasOf(vendor: string, convert: ToJsonSchema): void {
  converters.set(vendor, convert);
}

/** What converts a vendor's schemas, if anything does. */
export function converterOf(vendor: string): ToJsonSchema | undefined {
  return converters.get(vendor);
}
