/**
 * Schemas that are shown to clients but not checked: another server, to which the values go, checks them.
 *
 * @module
 */
import type { StandardSchema } from "./standard_schema.ts";

/** A schema that publishes a JSON Schema as it is, and accepts every value. */
export function passThroughSchema(
  jsonSchema: Readonly<Record<string, unknown>>,
): StandardSchema<Record<string, unknown>> {
  const publish = (): Record<string, unknown> => jsonSchema;
  return {
    "~standard": {
      version: 1,
      vendor: "trivet",
      validate: (value) => ({ value: value as Record<string, unknown> }),
      jsonSchema: { input: publish, output: publish },
    },
  };
}
