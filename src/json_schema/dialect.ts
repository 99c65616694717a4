/**
 * The dialect of a schema: 2020-12 (https://json-schema.org/draft/2020-12), also without `$schema`, or draft-07
 * (https://json-schema.org/draft-07). And the keywords of both that contain subschemas.
 *
 * @module
 */
import { invalidKeyword } from "./keyword_value.ts";
import { pointerStep } from "./message_text.ts";

const DIALECTS = ["https://json-schema.org/draft/2020-12/schema", "http://json-schema.org/draft-07/schema"];

/** Keywords whose value is a schema or an array of schemas. `contentSchema` is never applied, but may be referenced. */
const SCHEMA_KEYWORDS = words(
  "allOf anyOf oneOf not if then else items prefixItems contains additionalProperties propertyNames " +
    "unevaluatedItems unevaluatedProperties contentSchema additionalItems",
);

/** Keywords whose value is an object of schemas. */
const SCHEMA_MAP_KEYWORDS = words(
  "$defs definitions properties patternProperties dependentSchemas dependencies",
);

/** Keywords that check something and do not exist in draft-07. */
const NOT_IN_DRAFT7 = words(
  "$dynamicRef prefixItems minContains maxContains dependentRequired dependentSchemas unevaluatedItems " +
    "unevaluatedProperties",
);

function words(text: string): ReadonlySet<string> {
  return new Set(text.split(" "));
}

/** Whether `$schema` names draft-07. @throws {TypeError} for an unsupported dialect */
export function isDraft7(dialect: unknown, at: string): boolean {
  const index = DIALECTS.indexOf(String(dialect).replace(/#$/, ""));
  if (index < 0) throw invalidKeyword(`${at}/$schema`, `one of ${DIALECTS.join(", ")}`, dialect);
  return index === 1;
}

/** Whether draft-07 does not have this keyword. */
export function isUnknownInDraft7(keyword: string): boolean {
  return NOT_IN_DRAFT7.has(keyword);
}

/** The schemas directly in a keyword, each with the end of its JSON Pointer. */
export function subschemasOf(keyword: string, keywordValue: unknown): [place: string, schema: unknown][] {
  return SCHEMA_KEYWORDS.has(keyword) && !Array.isArray(keywordValue)
    ? [["", keywordValue]]
    : SCHEMA_KEYWORDS.has(keyword) || SCHEMA_MAP_KEYWORDS.has(keyword)
    ? Object.entries(Object(keywordValue)).map(([name, schema]) => [pointerStep(name), schema])
    : [];
}
