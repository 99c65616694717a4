/**
 * Converts the keywords of a schema that have no schema in them: types, texts, bounds, patterns, values.
 *
 * @module
 */
import { truncate } from "../json_schema/message_text.ts";
import { isSafePattern } from "../json_schema/safe_pattern.ts";

const MAX_DESCRIPTION_CHARACTERS = 600;

const NUMBERS = ["maximum", "exclusiveMaximum", "minimum", "exclusiveMinimum"];
const COUNTS = [
  "maxLength",
  "minLength",
  "maxItems",
  "minItems",
  "maxContains",
  "minContains",
  "maxProperties",
  "minProperties",
];
const ANYTHING = ["default", "const"];
const TEXTS = ["title", "format", "contentEncoding", "contentMediaType"];
const TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"];

/** @param losses counts patterns that are left out */
export function convertValues(
  source: Readonly<Record<string, unknown>>,
  isVersion30: boolean,
  losses: { count: number },
): Record<string, unknown> {
  const schema: Record<string, unknown> = {};
  const type = convertType(source);
  if (type !== undefined) schema.type = type;
  for (const name of TEXTS) if (typeof source[name] === "string") schema[name] = source[name];
  if (isBytes(source)) {
    if (!Array.isArray(schema.type)) schema.type = "string";
    schema.contentEncoding = "base64";
    delete schema.format;
  }
  if (typeof source.description === "string" && source.description !== "") {
    schema.description = truncate(source.description.trim(), MAX_DESCRIPTION_CHARACTERS);
  }
  convertBounds(source, schema, isVersion30);
  if (source.uniqueItems === true) schema.uniqueItems = true;
  if (typeof source.pattern === "string") {
    if (isSafePattern(source.pattern)) schema.pattern = source.pattern;
    else losses.count++;
  }
  if (isBytes(source)) {
    // They are about the bytes, of which base64 has more characters.
    for (const name of ["minLength", "maxLength", "pattern"]) {
      if (schema[name] !== undefined) losses.count++;
      delete schema[name];
    }
  }
  if (Array.isArray(source.enum) && source.enum.length > 0) schema.enum = source.enum;
  for (const name of ANYTHING) if (source[name] !== undefined) schema[name] = source[name];
  return schema;
}

function convertBounds(
  source: Readonly<Record<string, unknown>>,
  schema: Record<string, unknown>,
  isVersion30: boolean,
): void {
  for (const name of NUMBERS) if (Number.isFinite(source[name])) schema[name] = source[name];
  if (isVersion30) convertExclusive(source, schema);
  for (const name of COUNTS) {
    if (Number.isSafeInteger(source[name]) && source[name] as number >= 0) schema[name] = source[name];
  }
  if (Number.isFinite(source.multipleOf) && source.multipleOf as number > 0) {
    schema.multipleOf = source.multipleOf;
  }
}

/** Bytes, which arguments have in base64: `format: binary` of OpenAPI 3.0, a media type of 3.1. */
function isBytes(source: Readonly<Record<string, unknown>>): boolean {
  const type = convertType(source);
  const isText = [type].flat().every((each) => each === undefined || each === "string" || each === "null");
  return isText && type !== "null" &&
    (source.format === "binary" || source.contentMediaType === "application/octet-stream");
}

function convertType({ type }: Readonly<Record<string, unknown>>): unknown {
  if (Array.isArray(type)) {
    const known = type.filter((each) => TYPES.includes(each));
    return known.length === 0 ? undefined : known.length === 1 ? known[0] : [...new Set(known)];
  }
  return typeof type === "string" && TYPES.includes(type) ? type : undefined;
}

/** OpenAPI 3.0: booleans that make `minimum` and `maximum` exclusive. */
function convertExclusive(source: Readonly<Record<string, unknown>>, schema: Record<string, unknown>): void {
  for (
    const [bound, exclusive] of [["minimum", "exclusiveMinimum"], ["maximum", "exclusiveMaximum"]] as const
  ) {
    if (source[exclusive] !== true || schema[bound] === undefined) continue;
    schema[exclusive] = schema[bound];
    delete schema[bound];
  }
}
