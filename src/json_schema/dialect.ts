/**
 * Which JSON Schema a schema says it is written in: 2020-12 (https://json-schema.org/draft/2020-12), which is also what
 * one that says nothing is read as, or draft-07 (https://json-schema.org/draft-07). And where either of them holds
 * further schemas.
 *
 * @module
 */
import { operandError } from "./operand.ts";
import { pointerStep } from "./words.ts";

const DIALECTS = ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema"];

/** Keywords whose operand is a schema or a list of them. `contentSchema` is never applied, but may be referred to. */
const SCHEMAS = words(
  "allOf anyOf oneOf not if then else items prefixItems contains additionalProperties propertyNames " +
    "unevaluatedItems unevaluatedProperties contentSchema additionalItems",
);

/** Keywords whose operand is an object of schemas. */
const NAMED_SCHEMAS = words(
  "$defs definitions properties patternProperties dependentSchemas dependencies",
);

/** Keywords that check something, and that draft-07 has not. */
const LATER = words(
  "$dynamicRef prefixItems minContains maxContains dependentRequired dependentSchemas unevaluatedItems " +
    "unevaluatedProperties",
);

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** Whether `$schema` says draft-07. @throws {TypeError} when it says a dialect that is not supported */
export function isDraft7(dialect: unknown, at: string): boolean {
  const index = DIALECTS.indexOf(String(dialect).replace(/#$/, ""));
  if (index < 0) throw operandError(`${at}/$schema`, `one of ${DIALECTS.join(", ")}`, dialect);
  return index === 1;
}

/** Whether draft-07 has not this keyword. */
export function isLater(keyword: string): boolean {
  return LATER.has(keyword);
}

/** The schemas right inside a keyword, each with the end of the pointer to it. */
export function schemasIn(keyword: string, operand: unknown): [place: string, schema: unknown][] {
  return SCHEMAS.has(keyword) && !Array.isArray(operand)
    ? [["", operand]]
    : SCHEMAS.has(keyword) || NAMED_SCHEMAS.has(keyword)
    ? Object.entries(Object(operand)).map(([name, schema]) => [pointerStep(name), schema])
    : [];
}
