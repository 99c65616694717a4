/**
 * Schemas that users write, as what a tool needs: JSON Schema to publish, and a function that validates. Takes raw
 * JSON Schema, or any Standard Schema (https://standardschema.dev): valibot, zod, arktype and others.
 *
 * @module
 */
import { compileSchema, type JsonSchema } from "../json_schema/compile.ts";
import { toJsonSchema } from "./valibot_json_schema.ts";

/** The part of Standard Schema version 1 that is used, with its JSON Schema extension where a library has it. */
export interface StandardSchema<Input = unknown, Output = Input> {
  readonly "~standard": {
    readonly version: 1;
    readonly vendor: string;
    readonly validate: (value: unknown) => StandardResult<Output> | Promise<StandardResult<Output>>;
    readonly types?: { readonly input: Input; readonly output: Output } | undefined;
    readonly jsonSchema?: {
      readonly input: (options: { readonly target: string }) => Record<string, unknown>;
    };
  };
}

type StandardResult<Output> =
  | { readonly value: Output; readonly issues?: undefined }
  | {
    readonly issues: readonly { readonly message: string; readonly path?: readonly unknown[] | undefined }[];
  };

/** What a handler is given for a schema: its output type, or any object for raw JSON Schema. */
export type Parsed<Schema> = Schema extends StandardSchema<infer _, infer Output> ? Output
  : Record<string, unknown>;

/** Schemas that are accepted. */
export type AnySchema = StandardSchema | { readonly [keyword: string]: unknown };

export interface CompiledSchema {
  readonly jsonSchema: JsonSchema;
  /** The value as the schema gives it (defaults, transforms), or what is wrong with it, a line each. */
  readonly parse: (value: unknown) => ParseResult | Promise<ParseResult>;
}

export type ParseResult = { readonly value: unknown } | { readonly problems: readonly string[] };

/**
 * Compiles a schema once.
 * @throws {TypeError} when it has no JSON Schema to publish, or one that cannot be compiled
 */
export function compileAnySchema(schema: AnySchema, name: string): CompiledSchema {
  return isStandard(schema) ? compileStandard(schema, name) : compileRaw(schema, name);
}

function isStandard(schema: AnySchema): schema is StandardSchema {
  return "~standard" in schema;
}

function compileRaw(jsonSchema: { readonly [keyword: string]: unknown }, name: string): CompiledSchema {
  if (jsonSchema.type !== "object") {
    throw new TypeError(`Cannot define "${name}": its schema must have "type": "object" at the root`);
  }
  const check = compileSchema(jsonSchema);
  return {
    jsonSchema,
    parse(value) {
      const violations = check(value);
      return violations.length === 0
        ? { value }
        : { problems: violations.map(({ path, message }) => `${path || "the arguments"}: ${message}`) };
    },
  };
}

function compileStandard(schema: StandardSchema, name: string): CompiledSchema {
  const { vendor, validate, jsonSchema: extension } = schema["~standard"];
  const jsonSchema = extension
    ? extension.input({ target: "draft-2020-12" })
    : vendor === "valibot"
    ? toJsonSchema(schema, name)
    : undefined;
  if (jsonSchema === undefined) {
    throw new TypeError(
      `Cannot define "${name}": ${vendor} gives no JSON Schema; pass a JSON Schema object instead`,
    );
  }
  if (jsonSchema.type !== "object") {
    throw new TypeError(`Cannot define "${name}": its schema must be of an object`);
  }
  const read = (result: StandardResult<unknown>): ParseResult =>
    result.issues === undefined ? { value: result.value } : {
      problems: result.issues.map(({ message, path = [] }) =>
        `${toPointer(path) || "the arguments"}: ${message}`
      ),
    };
  return {
    jsonSchema,
    parse(value) {
      const result = validate(value);
      return result instanceof Promise ? result.then(read) : read(result);
    },
  };
}

/** A path of Standard Schema, whose steps are keys or objects with a key, as a JSON Pointer. */
function toPointer(path: readonly unknown[]): string {
  return path.map((step) => {
    const key = typeof step === "object" && step !== null && "key" in step ? step.key : step;
    return "/" + String(key).replaceAll("~", "~0").replaceAll("/", "~1");
  }).join("");
}
