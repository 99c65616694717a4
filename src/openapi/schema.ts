/**
 * Converts a schema of a document to JSON Schema 2020-12 that stands alone. OpenAPI 3.1 has this dialect already; that of
 * 3.0 differs in a few keywords (https://spec.openapis.org/oas/v3.0.4#schema-object). Keywords that say nothing to a
 * client, and values that a keyword cannot have, are left out: a wider schema still lets the API decide.
 *
 * @module
 */
import { isObject } from "../json_schema/value.ts";
import { arrayOf, findTarget, type OpenApiDocument, OpenApiError } from "./document.ts";
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
/** A schema of the document. */
type Source = Readonly<Record<string, unknown>>;

/** Schemas that are searched for what hides a property. */
const MAX_PARTS = 32;
const SCHEMAS = ["items", "additionalProperties", "propertyNames"];
/** Each of these is left out when it, or for the last ones anything beside it, may have become wider. */
const EXACT = ["not", "if", "contains"];
const EXACT_BESIDE = ["unevaluatedItems", "unevaluatedProperties"];
const LISTS = ["allOf", "anyOf", "prefixItems"];
const MAPS = ["properties", "patternProperties", "dependentSchemas"];

/**
 * Converts a schema without following its references.
 * @param around schemas that it is a part of, and that are about the same value
 * @throws {OpenApiError} for keywords by which references would mean something else (`$id`, `$dynamicRef`)
 */
export function convertSchema(
  source: unknown,
  options: ConvertOptions,
  depth = 0,
  around: readonly Source[] = [],
): Schema {
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
  const whole = [...around, source];
  if (source.$ref !== undefined) return convertReference(source, options, depth, whole);
  const { isVersion30 } = options.document;
  const lossesBefore = losses.count;
  const schema = convertValues(source, isVersion30, losses);
  const inner = (value: unknown) => convertSchema(value, options, depth + 1);
  const part = (value: unknown) => convertSchema(value, options, depth + 1, whole);
  const conversion: Conversion = { source, schema, inner, part, losses };
  convertSchemas(conversion);
  convertOneOf(conversion);
  convertMaps(conversion, options);
  convertExact(conversion);
  convertRequired(conversion, whole, options);
  for (const name of EXACT_BESIDE) {
    if (!isSchema(source[name])) continue;
    const converted = inner(source[name]);
    if (losses.count === lossesBefore) schema[name] = converted;
  }
  return isVersion30 && source.nullable === true ? allowNull(schema) : schema;
}

/** A schema of the document, and what it becomes. */
interface Conversion {
  readonly source: Source;
  readonly schema: Record<string, unknown>;
  /** Converts a schema in the source. */
  readonly inner: (value: unknown) => Schema;
  /** Converts a schema of `allOf`, `anyOf` or `oneOf`. */
  readonly part: (value: unknown) => Schema;
  readonly losses: { count: number };
}

function convertReference(
  source: Source,
  options: ConvertOptions,
  depth: number,
  whole: readonly Source[],
): Schema {
  const { $ref: reference, ...others } = source;
  if (typeof reference !== "string") throw new OpenApiError('"$ref" in a schema must be a string');
  // The definition may not fit, and be replaced by a wider one.
  options.losses.count++;
  const $ref = options.refer(reference);
  // OpenAPI 3.0: members beside $ref are ignored.
  if (options.document.isVersion30) return { $ref };
  const rest = convertSchema(others, options, depth, whole);
  return { $ref, ...(rest === true || rest === false ? {} : rest) };
}

/** Keywords whose value is a schema, or a list of them. */
function convertSchemas({ source, schema, inner, part }: Conversion): void {
  for (const name of SCHEMAS) {
    if (isSchema(source[name])) schema[name] = inner(source[name]);
  }
  for (const name of LISTS) {
    const list = source[name];
    if (!Array.isArray(list) || list.length === 0 || !list.every(isSchema)) continue;
    schema[name] = list.map(name === "prefixItems" ? inner : part);
  }
}

/** Keywords whose value has schemas by name, without those of properties that only the other side may send. */
function convertMaps({ source, schema, inner, losses }: Conversion, options: ConvertOptions): void {
  for (const name of MAPS) {
    if (!isObject(source[name])) continue;
    const entries = Object.entries(source[name]).filter(([key, value]) =>
      name === "properties" ? !isHidden(value, options) : name !== "patternProperties" || isSafePattern(key)
    );
    if (entries.length < Object.keys(source[name]).length) {
      losses.count++;
      if (name === "patternProperties") delete schema.additionalProperties;
    }
    schema[name] = Object.fromEntries(entries.map(([key, value]) => [key, inner(value)]));
  }
}

/** @param whole the schema, and those that it is a part of: a property may be described by another one than requires it */
function convertRequired(
  { source, schema }: Conversion,
  whole: readonly Source[],
  options: ConvertOptions,
): void {
  if (Array.isArray(source.required)) {
    const parts = allParts(whole, options.document);
    const required = source.required.filter((each) => {
      if (typeof each !== "string") return false;
      const described = parts.flatMap(({ properties }) =>
        isObject(properties) && Object.hasOwn(properties, each) ? [properties[each]] : []
      );
      return described.length === 0 || !described.every((value) => isHidden(value, options));
    });
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
function convertOneOf({ source, schema, part, losses }: Conversion): void {
  const { oneOf } = source;
  if (!Array.isArray(oneOf) || oneOf.length === 0 || !oneOf.every(isSchema)) return;
  losses.count++;
  const anyOf = oneOf.map(part);
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

/** Whether the other side alone may send a property. */
function isHidden(property: unknown, { document, direction }: ConvertOptions): boolean {
  const keyword = direction === "request" ? "readOnly" : "writeOnly";
  if (!isObject(property)) return false;
  if (property[keyword] === true) return true;
  // Most have neither.
  if (property.$ref === undefined && property.allOf === undefined) return false;
  return allParts([property], document).some((part) => part[keyword] === true);
}

/** Schemas, and those that hold with them: of their references, and of their `allOf`. */
function allParts(schemas: readonly Source[], document: OpenApiDocument): readonly Source[] {
  // The set grows while it is read. A schema may contain itself.
  const found = new Set(schemas);
  for (const { $ref, allOf } of found) {
    const others = [...($ref === undefined ? [] : [findIfThere($ref, document)]), ...arrayOf(allOf)];
    for (const each of others) if (isObject(each) && found.size < MAX_PARTS) found.add(each);
  }
  return [...found];
}

/** The target of a reference. One that leads nowhere is refused where it is converted. */
function findIfThere(reference: unknown, document: OpenApiDocument): unknown {
  try {
    return findTarget(document, reference);
  } catch {
    return undefined;
  }
}
