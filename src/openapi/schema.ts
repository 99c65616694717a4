/**
 * Converts a schema of a document to JSON Schema 2020-12 that stands alone. OpenAPI 3.1 has this dialect already; that of
 * 3.0 differs in a few keywords (https://spec.openapis.org/oas/v3.0.4#schema-object). Keywords that say nothing to a
 * client, and values that a keyword cannot have, are left out: a wider schema still lets the API decide.
 *
 * @module
 */
import { isObject } from "../json_schema/value.ts";
import { type OpenApiDocument, OpenApiError } from "./document.ts";
import { isSafePattern } from "../json_schema/safe_pattern.ts";
import { convertValues } from "./schema_values.ts";

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

const SCHEMAS = ["items", "additionalProperties", "propertyNames"];
/** Each of these is left out when it, or for the last ones anything beside it, may have become wider. */
const EXACT = ["not", "if", "contains"];
const EXACT_BESIDE = ["unevaluatedItems", "unevaluatedProperties"];
const LISTS = ["allOf", "anyOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "dependentSchemas"];

/**
 * Converts a schema without following its references.
 * @throws {OpenApiError} for keywords by which references would mean something else (`$id`, `$dynamicRef`)
 */
export function convertSchema(source: unknown, options: ConvertOptions, depth = 0): Schema {
  if (source === false) return false;
  if (!isObject(source)) return true;
  const { losses } = options;
  if (depth > options.maxDepth || options.budget.subschemas-- <= 0) {
    losses.count++;
    return true;
  }
  for (const keyword of ["$id", "$dynamicRef", "$recursiveRef"]) {
    if (source[keyword] !== undefined) throw new OpenApiError(`"${keyword}" in a schema is not supported`);
  }
  if (source.$ref !== undefined) return convertReference(source, options, depth);
  const { isVersion30 } = options.document;
  const lossesBefore = losses.count;
  const schema = convertValues(source, isVersion30, losses);
  const inner = (value: unknown) => convertSchema(value, options, depth + 1);
  const conversion: Conversion = { source, schema, inner, losses };
  convertSchemas(conversion);
  convertOneOf(conversion);
  const hidden = hiddenProperties(source, options);
  convertMaps(conversion, hidden);
  convertExact(conversion);
  convertRequired(conversion, hidden);
  for (const name of EXACT_BESIDE) {
    if (!isSchema(source[name])) continue;
    const converted = inner(source[name]);
    if (losses.count === lossesBefore) schema[name] = converted;
  }
  return isVersion30 && source.nullable === true ? allowNull(schema) : schema;
}

/** A schema of the document, and what it becomes. */
interface Conversion {
  readonly source: Readonly<Record<string, unknown>>;
  readonly schema: Record<string, unknown>;
  /** Converts a schema in the source. */
  readonly inner: (value: unknown) => Schema;
  readonly losses: { count: number };
}

function convertReference(
  source: Readonly<Record<string, unknown>>,
  options: ConvertOptions,
  depth: number,
): Schema {
  const { $ref: reference, ...others } = source;
  if (typeof reference !== "string") throw new OpenApiError('"$ref" in a schema must be a string');
  // The definition may not fit, and be replaced by a wider one.
  options.losses.count++;
  const $ref = options.refer(reference);
  // OpenAPI 3.0: members beside $ref are ignored.
  if (options.document.isVersion30) return { $ref };
  const rest = convertSchema(others, options, depth);
  return { $ref, ...(rest === true || rest === false ? {} : rest) };
}

/** Keywords whose value is a schema, or a list of them. */
function convertSchemas({ source, schema, inner }: Conversion): void {
  for (const name of SCHEMAS) {
    if (isSchema(source[name])) schema[name] = inner(source[name]);
  }
  for (const name of LISTS) {
    const list = source[name];
    if (Array.isArray(list) && list.length > 0 && list.every(isSchema)) schema[name] = list.map(inner);
  }
}

/** Keywords whose value has schemas by name, without those of properties that only the other side may send. */
function convertMaps({ source, schema, inner, losses }: Conversion, hidden: ReadonlySet<string>): void {
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
}

function convertRequired({ source, schema }: Conversion, hidden: ReadonlySet<string>): void {
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
}

/**
 * `oneOf` becomes `anyOf`: in documents, the `discriminator` tells alternatives apart, or they overlap by mistake, and
 * those that became wider overlap.
 */
function convertOneOf({ source, schema, inner, losses }: Conversion): void {
  const { oneOf } = source;
  if (!Array.isArray(oneOf) || oneOf.length === 0 || !oneOf.every(isSchema)) return;
  losses.count++;
  const anyOf = oneOf.map(inner);
  if (schema.anyOf === undefined) schema.anyOf = anyOf;
  else schema.allOf = [...(schema.allOf as unknown[] | undefined ?? []), { anyOf }];
}

/** `not`, `if` and `contains`, which would refuse or choose otherwise if the schema in them were wider. */
function convertExact({ source, schema, inner, losses }: Conversion): void {
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

function isSchema(value: unknown): boolean {
  return isObject(value) || typeof value === "boolean";
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
