/**
 * Converts valibot schemas to JSON Schema. What has no equivalent in JSON Schema (transforms, checks by function, dates,
 * maps) is refused at start, so that no wrong schema is published.
 *
 * @module
 */
import type { SchemaUse } from "./schema_vendor.ts";

/** The members of valibot's schemas and pipe items that we read (https://valibot.dev). */
interface ValibotNode {
  readonly kind: string;
  readonly type: string;
  readonly requirement?: unknown;
  readonly pipe?: readonly ValibotNode[];
  readonly entries?: Readonly<Record<string, ValibotNode>>;
  readonly item?: ValibotNode;
  readonly items?: readonly ValibotNode[];
  readonly rest?: ValibotNode;
  readonly key?: ValibotNode;
  readonly value?: ValibotNode;
  readonly wrapped?: ValibotNode;
  readonly default?: unknown;
  readonly literal?: unknown;
  readonly options?: readonly unknown[];
  readonly description?: unknown;
  readonly title?: unknown;
}

type Schema = Record<string, unknown>;

interface Conversion {
  /** The name of the definition, for error messages. */
  readonly name: string;
  readonly use: SchemaUse;
}

/**
 * The JSON Schema of the values that the schema accepts (`input`), or of its results (`output`).
 * @throws {TypeError} naming the part that has no equivalent in JSON Schema
 */
export function toJsonSchema(schema: unknown, name: string, use: SchemaUse = "input"): Schema {
  return convert(schema as ValibotNode, { name, use });
}

function convert(node: ValibotNode, at: Conversion): Schema {
  const schema = convertType(node, at);
  for (const action of node.pipe?.slice(1) ?? []) {
    if (at.use === "output" && /^(trim|to_)/.test(action.type)) dropStringKeywords(schema);
    const more = convertAction(action, schema, at);
    // A schema has one `pattern`; further patterns go to `allOf`.
    if ("pattern" in more && "pattern" in schema) schema.allOf = [...(schema.allOf as Schema[] ?? []), more];
    else Object.assign(schema, more);
  }
  return schema;
}

function convertType(node: ValibotNode, at: Conversion): Schema {
  switch (node.type) {
    case "string":
    case "number":
    case "boolean":
      return { type: node.type };
    case "null":
      return { type: "null" };
    case "any":
    case "unknown":
      return {};
    case "literal":
      return { const: node.literal };
    case "picklist":
    case "enum":
      // Some clients need the type too.
      return {
        ...(node.options!.every((option) => typeof option === "string") && { type: "string" }),
        enum: node.options,
      };
    case "array":
      return { type: "array", items: convert(node.item!, at) };
    case "tuple":
    case "strict_tuple":
    case "loose_tuple":
    case "tuple_with_rest":
      return convertTuple(node, at);
    case "object":
    case "strict_object":
    case "loose_object":
    case "object_with_rest":
      return convertObject(node, at);
    case "record":
      return {
        type: "object",
        propertyNames: convert(node.key!, at),
        additionalProperties: convert(node.value!, at),
      };
    case "optional":
    case "exact_optional":
      return { ...convert(node.wrapped!, at), ...defaultOf(node) };
    case "nullable":
    case "nullish": {
      const wrapped = convert(node.wrapped!, at);
      // The default replaces null too, so the output is never null.
      return at.use === "output" && node.default !== undefined && node.default !== null
        ? { ...wrapped, ...defaultOf(node) }
        : { anyOf: [wrapped, { type: "null" }], ...defaultOf(node) };
    }
    case "union":
    case "variant":
      return { anyOf: node.options!.map((option) => convert(option as ValibotNode, at)) };
    case "intersect":
      return { allOf: node.options!.map((option) => convert(option as ValibotNode, at)) };
    default:
      throw notConvertible(node, at);
  }
}

/** A default that a function makes for each call cannot be published. */
function defaultOf(node: ValibotNode): Schema {
  return node.default === undefined || typeof node.default === "function" ? {} : { default: node.default };
}

function convertObject(node: ValibotNode, at: Conversion): Schema {
  const entries = Object.entries(node.entries!);
  const required = entries.filter(([, entry]) =>
    !/optional$|nullish$/.test(entry.type) || at.use === "output" && entry.default !== undefined
  ).map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, entry]) => [key, convert(entry, at)])),
    ...(required.length > 0 && { required }),
    ...(node.type === "strict_object" && { additionalProperties: false }),
    ...(node.type === "object_with_rest" && { additionalProperties: convert(node.rest!, at) }),
  };
}

function convertTuple(node: ValibotNode, at: Conversion): Schema {
  const items = node.items!.map((item) => convert(item, at));
  return {
    type: "array",
    prefixItems: items,
    minItems: items.length,
    ...(node.type === "strict_tuple" && { maxItems: items.length }),
    ...(node.type === "tuple_with_rest" && { items: convert(node.rest!, at) }),
  };
}

const FORMATS: Readonly<Record<string, string>> = {
  email: "email",
  url: "uri",
  uuid: "uuid",
  iso_date: "date",
  iso_time: "time",
  iso_date_time: "date-time",
  iso_timestamp: "date-time",
  ipv4: "ipv4",
  ipv6: "ipv6",
};

function convertAction(action: ValibotNode, schema: Schema, at: Conversion): Schema {
  const { type, requirement } = action;
  const isArray = schema.type === "array";
  if (type in FORMATS) return { format: FORMATS[type] };
  switch (type) {
    case "title":
      return { title: action.title };
    case "description":
      return { description: action.description };
    case "integer":
    case "safe_integer":
      return { type: "integer" };
    case "min_value":
      return { minimum: requirement };
    case "max_value":
      return { maximum: requirement };
    case "gt_value":
      return { exclusiveMinimum: requirement };
    case "lt_value":
      return { exclusiveMaximum: requirement };
    case "multiple_of":
      return { multipleOf: requirement };
    case "non_empty":
      return isArray ? { minItems: 1 } : { minLength: 1 };
    case "min_length":
      return isArray ? { minItems: requirement } : { minLength: requirement };
    case "max_length":
      return isArray ? { maxItems: requirement } : { maxLength: requirement };
    case "length":
      return isArray
        ? { minItems: requirement, maxItems: requirement }
        : { minLength: requirement, maxLength: requirement };
    case "regex": {
      const { source, flags } = requirement as RegExp;
      // JSON Schema patterns have the flag "u"; other flags would change which strings match.
      if (/[imsv]/.test(flags)) throw notConvertible({ ...action, type: `regex with flag "${flags}"` }, at);
      return { pattern: source };
    }
    case "starts_with":
      return { pattern: "^" + escapePattern(requirement as string) };
    case "ends_with":
      return { pattern: escapePattern(requirement as string) + "$" };
    case "trim":
    case "trim_start":
    case "trim_end":
    case "to_lower_case":
    case "to_upper_case":
    case "brand":
    case "readonly":
    case "metadata":
      // These do not change which values are accepted.
      return {};
    default:
      throw notConvertible(action, at);
  }
}

/** The earlier checks of a string need not hold for the string after a transformation. */
function dropStringKeywords(schema: Schema): void {
  for (const keyword of Object.keys(schema)) {
    if (keyword !== "title" && keyword !== "description") delete schema[keyword];
  }
  schema.type = "string";
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function notConvertible({ type }: ValibotNode, { name }: Conversion): TypeError {
  return new TypeError(
    `Cannot define "${name}": valibot's "${type}" cannot be converted to JSON Schema. Pass a JSON Schema object instead`,
  );
}
