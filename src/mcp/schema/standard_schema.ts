/**
 * Compiles the schemas of definitions to JSON Schema, which lists publish, and a function that validates. A schema is
 * JSON Schema or any Standard Schema (https://standardschema.dev): valibot, zod, arktype and others.
 *
 * @module
 */
import { compileSchema, type JsonSchema } from "../../json_schema/compile.ts";
import { pointerStep } from "../../json_schema/message_text.ts";
import { isObject } from "../../json_schema/value.ts";
import { cannotDefine } from "../error.ts";
import type { FromJsonSchema } from "./schema_types.ts";
import type { ConvertSchema, SchemaUse } from "./convert_schema.ts";
import { createSchemaConverter } from "./schema_converter.ts";

/** The part of Standard Schema version 1 that we use, and its optional JSON Schema extension. */
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

/** The type that a handler gets for an input schema: its output type, or the type of the JSON Schema. */
export type Parsed<Schema> = Schema extends StandardSchema<infer _, infer Output> ? Output
  : unknown extends FromJsonSchema<Schema> ? Record<string, unknown>
  : FromJsonSchema<Schema>;

/** The type that a handler returns for an output schema: its input type, or the type of the JSON Schema. */
export type Unparsed<Schema> = Schema extends StandardSchema<infer Input, infer _> ? Input
  : Returned<FromJsonSchema<Schema>>;

// A handler may return readonly arrays and objects.
type Returned<Value> = unknown extends Value ? Value : { readonly [K in keyof Value]: Returned<Value[K]> };

/** A schema of a definition. */
export type AnySchema = StandardSchema | { readonly [keyword: string]: unknown };

export interface CompiledSchema {
  readonly jsonSchema: JsonSchema;
  /** The parsed value (with defaults and transforms), or the problems, one line each. */
  readonly parse: (value: unknown) => ParseResult | Promise<ParseResult>;
}

export type ParseResult = { readonly value: unknown } | { readonly problems: readonly string[] };

/**
 * Compiles a schema. A Standard Schema for results is published as the JSON Schema of its output.
 * @param convert makes the JSON Schema of a Standard Schema that does not make it itself
 * @throws {TypeError} when the schema has no JSON Schema, an invalid JSON Schema, or, for arguments, does not describe
 *   an object
 */
export function compileAnySchema(
  schema: AnySchema,
  name: string,
  use: SchemaUse = "input",
  convert: ConvertSchema = createSchemaConverter().convert,
): CompiledSchema {
  // Authors without types may give anything.
  return (schema as AnySchema | undefined)?.["~standard"]
    ? compileStandard(schema as StandardSchema, name, use, convert)
    : compileRaw(schema as Exclude<AnySchema, StandardSchema>, name, use);
}

type Members = Readonly<Record<string, unknown>>;

const ROOT_NAME: Readonly<Record<SchemaUse, string>> = { input: "the arguments", output: "the result" };

function compileRaw(
  jsonSchema: { readonly [keyword: string]: unknown },
  name: string,
  use: SchemaUse,
): CompiledSchema {
  // The form of the official SDK. A keyword of JSON Schema is never such a schema.
  if (
    jsonSchema && Object.values(jsonSchema).some((value) => (value as StandardSchema | null)?.["~standard"])
  ) {
    throw cannotDefine(name, `the ${use} schema is an object of schemas. Wrap the fields in z.object({ … })`);
  }
  if (use === "input" && jsonSchema?.type !== "object") {
    throw cannotDefine(name, 'the input schema must have "type": "object" at the root');
  }
  const check = withDefinitionName(name, use, () => compileSchema(jsonSchema));
  return {
    jsonSchema,
    parse(value) {
      const violations = check(value);
      return violations.length === 0
        ? { value }
        : { problems: violations.map(({ path, message }) => `${path || ROOT_NAME[use]}: ${message}`) };
    },
  };
}

function compileStandard(
  schema: StandardSchema,
  name: string,
  use: SchemaUse,
  convert: ConvertSchema,
): CompiledSchema {
  const { validate } = schema["~standard"];
  const read = (result: StandardResult<unknown>): ParseResult =>
    result.issues === undefined ? { value: result.value } : {
      problems: result.issues.map(({ message, path = [] }) =>
        `${toPointer(path) || ROOT_NAME[use]}: ${message}`
      ),
    };
  return {
    jsonSchema: toPublishedSchema(schema, name, use, convert),
    parse(value) {
      const result = validate(value);
      return result instanceof Promise ? result.then(read) : read(result);
    },
  };
}

/** The JSON Schema of a Standard Schema, from its own extension (Standard JSON Schema) or the converter. */
function toPublishedSchema(
  schema: StandardSchema,
  name: string,
  use: SchemaUse,
  convert: ConvertSchema,
): JsonSchema {
  const { jsonSchema: extension } = schema["~standard"];
  const target = { target: "draft-2020-12" };
  const published = withDefinitionName(
    name,
    use,
    () =>
      extension
        ? use === "output" && extension.output?.(target) || extension.input(target)
        : convert(schema, use),
  );
  if (use === "output" || published.type === "object") return published;
  if (!describesObject(published, published)) {
    throw cannotDefine(name, "the input schema must describe an object");
  }
  // MCP requires the type at the root, also when each alternative has it.
  return { type: "object", ...published };
}

/** zod writes a schema with an id as a reference to a definition. @param depth ends a circle of references */
function describesObject(schema: unknown, root: Members, depth = 20): boolean {
  if (!isObject(schema) || depth === 0) return false;
  const { $ref, type, anyOf, oneOf, allOf } = schema;
  const describes = (each: unknown): boolean => describesObject(each, root, depth - 1);
  return type === "object" || Array.isArray(allOf) && allOf.some(describes) ||
    [anyOf, oneOf].some((list) => Array.isArray(list) && list.length > 0 && list.every(describes)) ||
    isObject(root.$defs) && describes(root.$defs[String($ref).slice("#/$defs/".length)]);
}

/** Adds the name of the definition to an error. */
function withDefinitionName<Result>(name: string, use: SchemaUse, run: () => Result): Result {
  try {
    return run();
  } catch (cause) {
    const reason = cause instanceof Error ? cause.message : String(cause);
    throw cannotDefine(name, `invalid ${use} schema. ${reason}`, { cause });
  }
}

/** The JSON Pointer of a Standard Schema path, whose steps are keys or objects with a key. */
function toPointer(path: readonly unknown[]): string {
  return path.map((step) => {
    const key = isObject(step) && "key" in step ? step.key : step;
    return pointerStep(String(key));
  }).join("");
}
