/**
 * Converters for schema libraries that cannot make JSON Schema themselves. `mod.ts` registers the one for valibot.
 *
 * @module
 */

/** What the schema is for: the arguments of a tool, always an object, or its result, any JSON value. */
export type SchemaUse = "input" | "output";

/**
 * Converts a schema to JSON Schema 2020-12. `name` is the name of the definition, for error messages.
 * @throws {TypeError} naming the part that has no equivalent in JSON Schema
 */
export type ToJsonSchema = (schema: unknown, name: string, use: SchemaUse) => Record<string, unknown>;

const converters = new Map<string, ToJsonSchema>();

/** Registers the converter for the schemas of a vendor (`~standard.vendor`). */
export function convertSchemasOf(vendor: string, convert: ToJsonSchema): void {
  converters.set(vendor, convert);
}

/** The converter for the schemas of a vendor. */
export function findConverter(vendor: string): ToJsonSchema | undefined {
  return converters.get(vendor);
}
