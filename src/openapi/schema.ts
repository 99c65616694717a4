/**
 * Converts a schema of a document to JSON Schema 2020-12 that stands alone. OpenAPI 3.1 has this dialect already; that of
 * 3.0 differs in a few keywords (https://spec.openapis.org/oas/v3.0.4#schema-object). Keywords that say nothing to a
 * client, and values that a keyword cannot have, are left out: a wider schema still lets the API decide.
 *
 * @module
 */
import { isObject } from "../json_schema/value.ts";
import { truncate } from "../json_schema/message_text.ts";
import { type OpenApiDocument, OpenApiError } from "./document.ts";
import { isSafePattern } from "../json_schema/safe_pattern.ts";

/** Where values of the schema are: members that only the other side may send are left out (`readOnly`, `writeOnly`). */
export type Direction = "request" | "response";

export interface ConvertOptions {
  readonly document: OpenApiDocument;
  readonly direction: Direction;
  /** Returns the reference to use for a `$ref` of the document. */
  readonly refer: (reference: string) => string;
  /** Schemas deeper than this become `true`. */
  readonly maxDepth: number;
  /** How many more subschemas are converted; the others become `true`. */
  readonly budget: { subschemas: number };
  /** Counts what may have become wider: keywords that turn wider into narrower are then left out. */
  readonly losses: { count: number };
}

type Schema = boolean | Record<string, unknown>;

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
const SCHEMAS = ["items", "additionalProperties", "propertyNames"];
/** Each of these is left out when it, or for the last ones anything beside it, may have become wider. */
const EXACT = ["not", "if", "contains"];
const EXACT_BESIDE = ["unevaluatedItems", "unevaluatedProperties"];
const LISTS = ["allOf", "anyOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "dependentSchemas"];
const ANYTHING = ["default", "const"];
const TEXTS = ["title", "format", "contentEncoding", "contentMediaType"];
const TYPES = ["string", "number", "integer", "boolean", "array", "object", "null"];

/**
 * Converts a schema without following its references.
 * @throws {OpenApiError} for keywords by which references would mean something else (`$id`, `$dynamicRef`)
 */
export function convertSchema(source: unknown, options: ConvertOptions, depth = 0): Schema {
  if (source === false) return false;
  const { losses } = options;
  if (!isObject(source)) return true;
  if (depth > options.maxDepth || options.budget.subschemas-- <= 0) {
    losses.count++;
    return true;
  }
  const lossesBefore = losses.count;
  for (const keyword of ["$id", "$dynamicRef", "$recursiveRef"]) {
    if (source[keyword] !== undefined) throw new OpenApiError(`"${keyword}" in a schema is not supported`);
  }
  const inner = (value: unknown) => convertSchema(value, options, depth + 1);
  const { isVersion30 } = options.document;
  if (source.$ref !== undefined) {
    if (typeof source.$ref !== "string") throw new OpenApiError('"$ref" in a schema must be a string');
    // The definition may not fit, and be replaced by a wider one.
    losses.count++;
    const $ref = options.refer(source.$ref);
    // OpenAPI 3.0: members beside $ref are ignored.
    if (isVersion30) return { $ref };
    const { $ref: _, ...others } = source;
    const rest = convertSchema(others, options, depth);
    return { $ref, ...(rest === true || rest === false ? {} : rest) };
  }
  const schema: Record<string, unknown> = {};
  const type = convertType(source);
  if (type !== undefined) schema.type = type;
  for (const name of TEXTS) if (typeof source[name] === "string") schema[name] = source[name];
  if (isBytes(source)) {
    schema.type = "string";
    schema.contentEncoding = "base64";
    delete schema.format;
  }
  if (typeof source.description === "string" && source.description !== "") {
    schema.description = truncate(source.description.trim(), MAX_DESCRIPTION_CHARACTERS);
  }
  for (const name of NUMBERS) if (Number.isFinite(source[name])) schema[name] = source[name];
  if (isVersion30) convertExclusive(source, schema);
  for (const name of COUNTS) {
    if (Number.isSafeInteger(source[name]) && source[name] as number >= 0) schema[name] = source[name];
  }
  if (Number.isFinite(source.multipleOf) && source.multipleOf as number > 0) {
    schema.multipleOf = source.multipleOf;
  }
  if (source.uniqueItems === true) schema.uniqueItems = true;
  if (typeof source.pattern === "string") {
    if (isSafePattern(source.pattern)) schema.pattern = source.pattern;
    else losses.count++;
  }
  if (Array.isArray(source.enum) && source.enum.length > 0) schema.enum = source.enum;
  for (const name of ANYTHING) if (source[name] !== undefined) schema[name] = source[name];
  for (const name of SCHEMAS) {
    if (isSchema(source[name])) schema[name] = inner(source[name]);
  }
  for (const name of LISTS) {
    const list = source[name];
    if (Array.isArray(list) && list.length > 0 && list.every(isSchema)) schema[name] = list.map(inner);
  }
  convertOneOf(source, schema, inner, losses);
  const hidden = hiddenProperties(source, options);
  for (const name of MAPS) {
    if (!isObject(source[name])) continue;
    const entries = Object.entries(source[name]).filter(([key]) =>
      name === "properties" ? !hidden.has(key) : name !== "patternProperties" || isSafePattern(key)
    );
    if (entries.length < Object.keys(source[name]).length) {
      losses.count++;
      if (name === "patternProperties") delete schema.additionalProperties;
    }
    schema[name] = Object.fromEntries(entries.map(([key, value]) => [key, inner(value)]));
  }
  convertExact(source, schema, inner, losses);
  if (Array.isArray(source.required)) {
    const required = source.required.filter((each) => typeof each === "string" && !hidden.has(each));
    if (required.length > 0) schema.required = [...new Set(required)];
  }
  if (isObject(source.dependentRequired)) {
    const entries = Object.entries(source.dependentRequired).filter(([, value]) =>
      Array.isArray(value) && value.every((each) => typeof each === "string")
    );
    schema.dependentRequired = Object.fromEntries(entries);
  }
  for (const name of EXACT_BESIDE) {
    if (!isSchema(source[name])) continue;
    const converted = inner(source[name]);
    if (losses.count === lossesBefore) schema[name] = converted;
  }
  return isVersion30 && source.nullable === true ? allowNull(schema) : schema;
}

/**
 * `oneOf` becomes `anyOf`: in documents, the `discriminator` tells alternatives apart, or they overlap by mistake, and
 * those that became wider overlap.
 */
function convertOneOf(
  source: Readonly<Record<string, unknown>>,
  schema: Record<string, unknown>,
  inner: (value: unknown) => Schema,
  losses: { count: number },
): void {
  const { oneOf } = source;
  if (!Array.isArray(oneOf) || oneOf.length === 0 || !oneOf.every(isSchema)) return;
  losses.count++;
  const anyOf = oneOf.map(inner);
  if (schema.anyOf === undefined) schema.anyOf = anyOf;
  else schema.allOf = [...(schema.allOf as unknown[] | undefined ?? []), { anyOf }];
}

/** `not`, `if` and `contains`, which would refuse or choose otherwise if the schema in them were wider. */
function convertExact(
  source: Readonly<Record<string, unknown>>,
  schema: Record<string, unknown>,
  inner: (value: unknown) => Schema,
  losses: { count: number },
): void {
  for (const name of EXACT) {
    if (!isSchema(source[name])) continue;
    const before = losses.count;
    const converted = inner(source[name]);
    const isEmpty = converted === true || isObject(converted) && Object.keys(converted).length === 0;
    if (losses.count > before || name === "not" && isEmpty) continue;
    schema[name] = converted;
    if (name !== "if") continue;
    for (const branch of ["then", "else"]) {
      if (isSchema(source[branch])) schema[branch] = inner(source[branch]);
    }
  }
}

/** Bytes, which arguments have in base64: `format: binary` of OpenAPI 3.0, a media type of 3.1. */
function isBytes({ type, format, contentMediaType }: Readonly<Record<string, unknown>>): boolean {
  return type === "string" && format === "binary" ||
    (type === "string" || type === undefined) && contentMediaType === "application/octet-stream";
}

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === "boolean";
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

/** OpenAPI 3.0: `nullable`. */
function allowNull(schema: Record<string, unknown>): Record<string, unknown> {
  const { type } = schema;
  const isPlain = ["allOf", "anyOf", "not"].every((name) => schema[name] === undefined);
  if (type === undefined && isPlain && schema.enum === undefined) return schema;
  if (typeof type === "string" && isPlain) {
    const values = schema.enum as unknown[] | undefined;
    return {
      ...schema,
      type: [type, "null"],
      ...(values && { enum: values.includes(null) ? values : [...values, null] }),
    };
  }
  const { title, description, ...rest } = schema;
  return {
    ...(title !== undefined && { title }),
    ...(description !== undefined && { description }),
    anyOf: [rest, { type: "null" }],
  };
}

/** The names of properties that the other side alone may send. */
function hiddenProperties(
  source: Readonly<Record<string, unknown>>,
  { direction }: ConvertOptions,
): ReadonlySet<string> {
  const keyword = direction === "request" ? "readOnly" : "writeOnly";
  const properties = isObject(source.properties) ? Object.entries(source.properties) : [];
  return new Set(
    properties.filter(([, value]) => isObject(value) && value[keyword] === true).map(([name]) => name),
  );
}
