/**
 * JSON Schema for Standard Schemas that do not make it themselves (`~standard.jsonSchema`, https://standardschema.dev/json-schema),
 * such as those of valibot: by the option `toJsonSchema`, or by valibot's own converter, an optional peer that loads when a
 * definition needs it.
 *
 * @module
 */
import type { Convertible, ConvertSchema, SchemaUse } from "./convert_schema.ts";

/**
 * Converts a schema to JSON Schema 2020-12: `toJsonSchema` of `@valibot/to-json-schema` is such a function.
 * @throws {Error} naming the part that has no equivalent in JSON Schema
 */
export type ToJsonSchema = (
  // Each library has a type of its own for schemas.
  // deno-lint-ignore no-explicit-any
  schema: any,
  config: { readonly typeMode: SchemaUse; readonly target: "draft-2020-12" },
) => object;

export interface SchemaConverter {
  /** Whether `convert` needs nothing more for these schemas. */
  isReadyFor(schemas: readonly unknown[]): boolean;
  /** @throws {Error} without a converter for the vendor, and what the converter throws */
  readonly convert: ConvertSchema;
  /** Loads what `convert` needs for these schemas. When that fails, `convert` throws an error with the cause. */
  prepare(schemas: readonly unknown[]): Promise<void>;
}

/** @param toJsonSchema the user's converter; it serves every vendor */
export function createSchemaConverter(toJsonSchema?: ToJsonSchema): SchemaConverter {
  let convertValibot: ConvertSchema | undefined;
  let cause: unknown;
  const isReadyFor = (schemas: readonly unknown[]): boolean =>
    toJsonSchema !== undefined || convertValibot !== undefined || !schemas.some(needsValibot);
  return {
    isReadyFor,
    async prepare(schemas) {
      if (isReadyFor(schemas)) return;
      try {
        convertValibot = await (await import("./valibot_schema.ts")).loadValibotConverter();
      } catch (error) {
        cause = error;
      }
    },
    convert(schema, use) {
      if (toJsonSchema) {
        return toJsonSchema(schema, { typeMode: use, target: "draft-2020-12" }) as Record<string, unknown>;
      }
      const { vendor } = schema["~standard"];
      if (vendor !== "valibot") {
        throw new TypeError(
          vendor === "zod"
            ? "This version of zod does not make JSON Schema: install zod 4.2 or newer, or pass JSON Schema"
            : `${vendor} schemas do not make JSON Schema. Pass a converter in the option "toJsonSchema", or use a JSON Schema object`,
        );
      }
      if (convertValibot) return convertValibot(schema, use);
      throw new TypeError(
        'valibot schemas need a converter. Install "@valibot/to-json-schema", or use a JSON Schema object',
        { cause },
      );
    },
  };
}

function needsValibot(schema: unknown): boolean {
  const standard = (schema as Partial<Convertible> | undefined)?.["~standard"];
  return standard?.vendor === "valibot" && standard.jsonSchema === undefined;
}
