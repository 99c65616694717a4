/**
 * Schemas that users write, as what a tool needs: JSON Schema to publish, and a function that validates. Takes raw
 * JSON Schema, or any Standard Schema (https://standardschema.dev): valibot, zod, arktype and others.
 *
 * @module
 */
import { compileSchema, type JsonSchema } from "../../json_schema/compile.ts";
import type { FromJsonSchema } from "./schema_types.ts";
import { converterOf, type SchemaUse } from "./schema_vendor.ts";

/** The part of Standard Schema version 1 that is used, with its JSON Schema extension where a library has it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
      readonly output?: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
    readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[];
  };

/** What a handler is given for an input schema: its output type, or what raw JSON Schema allows. */
export type Parsed<Schema> = Schema extends StandardSchema<infer _, infer Output> ? Output
  : unknown extends FromJsonSchema<Schema> ? Record<string, unknown>
  : FromJsonSchema<Schema>;

/** What a handler must return for an output schema: its input type, or what raw JSON Schema allows. */
export type Unparsed<Schema> = Schema extends StandardSchema<infer Input, infer _> ? Input
  : Returned<FromJsonSchema<Schema>>;

// A handler may return lists and objects that it may not change itself.
type Returned<Value> = unknown extends Value ? Value : { readonly [K in keyof Value]: Returned<Value[K]> };

/** Schemas that are accepted. */
export type AnySchema = StandardSchema | { readonly [keyword: string]: unknown };

export interface CompiledSchema {
  readonly jsonSchema: JsonSchema;
  /** The value as the schema gives it (defaults, transforms), or what is wrong with it, a line each. */
  readonly parse: (value: unknown) => ParseResult | Promise<ParseResult>;
}

export type ParseResult = { readonly value: unknown } | { readonly problems: readonly string[] };

/**
 * Compiles a schema once. Of a Standard Schema for results, the JSON Schema is of what it makes of them.
 * @throws {TypeError} when it has no JSON Schema to publish, or one that cannot be compiled, or one for arguments
 *   that are no object
 */
export function compileAnySchema(schema: AnySchema, name: string, use: SchemaUse = "input"): CompiledSchema {
  return isStandard(schema) ? compileStandard(schema, name, use) : compileRaw(schema, name, use);
}

function isStandard(schema: AnySchema): schema is StandardSchema {
  return "~standard" in schema;
}

const SUBJECT: Readonly<Record<SchemaUse, string>> = { input: "the arguments", output: "the result" };

function compileRaw(
  jsonSchema: { readonly [keyword: string]: unknown },
  name: string,
  use: SchemaUse,
): CompiledSchema {
  if (use === "input" && jsonSchema.type !== "object") {
    throw new TypeError(`Cannot define "${name}": the input schema must have "type": "object" at the root`);
  }
  const check = explain(name, use, () => compileSchema(jsonSchema));
  return {
    jsonSchema,
    parse(value) {
      const violations = check(value);
      return violations.length === 0
        ? { value }
        : { problems: violations.map(({ path, message }) => `${path || SUBJECT[use]}: ${message}`) };
    },
  };
}

function compileStandard(schema: StandardSchema, name: string, use: SchemaUse): CompiledSchema {
  const { validate } = schema["~standard"];
  const read = (result: StandardResult<unknown>): ParseResult =>
    result.issues === undefined ? { value: result.value } : {
      problems: result.issues.map(({ message, path = [] }) =>
        `${toPointer(path) || SUBJECT[use]}: ${message}`
      ),
    };
  return {
    jsonSchema: toPublish(schema, name, use),
    parse(value) {
      const result = validate(value);
      return result instanceof Promise ? result.then(read) : read(result);
    },
  };
}

/** The JSON Schema of a Standard Schema, by its own extension or by ours. */
function toPublish(schema: StandardSchema, name: string, use: SchemaUse): JsonSchema {
  const { vendor, jsonSchema: extension } = schema["~standard"];
  const convert = converterOf(vendor);
  if (!extension && !convert) {
    throw new TypeError(
      `Cannot define "${name}": ${vendor} schemas cannot be converted to JSON Schema. Pass a JSON Schema object, or call convertSchemasOf("${vendor}", …)`,
    );
  }
  const target = { target: "draft-2020-12" };
  const published = extension
    ? explain(name, use, () => use === "output" && extension.output?.(target) || extension.input(target))
    : convert!(schema, name, use);
  if (use === "output" || published.type === "object") return published;
  if (!isOfObjects(published)) {
    throw new TypeError(`Cannot define "${name}": the input schema must describe an object`);
  }
  // MCP wants the type at the root, also when each of its alternatives says it.
  return { type: "object", ...published };
}

function isOfObjects(schema: unknown): boolean {
  if (typeof schema !== "object" || schema === null) return false;
  const { type, anyOf, oneOf, allOf } = schema as Record<string, unknown>;
  return type === "object" || Array.isArray(allOf) && allOf.some(isOfObjects) ||
    [anyOf, oneOf].some((list) => Array.isArray(list) && list.length > 0 && list.every(isOfObjects));
}

/** Says of a failure which definition it is about. */
function explain<Result>(name: string, use: SchemaUse, run: () => Result): Result {
  try {
    return run();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw new TypeError(`Cannot define "${name}": invalid ${use} schema. ${reason}`, { cause });
  }
}

/** A path of Standard Schema, whose steps are keys or objects with a key, as a JSON Pointer. */
function toPointer(path: readonly unknown[]): string {
  return path.map((step) => {
    const key = typeof step === "object" && step !== null && "key" in step ? step.key : step;
    return "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1");
  }).join("");
}
