/**
 * JSON Schema of a valibot schema, for the part of valibot that says what JSON may come in. What JSON Schema cannot
 * say (transforms, checks by function, dates, maps) is refused at start rather than published wrongly.
 *
 * @module
 */

/** What valibot's schemas and pipe items look like from outside (https://valibot.dev). */
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

/** @throws {TypeError} naming the part that JSON Schema cannot say */
export function toJsonSchema(schema: unknown, name: string): Schema {
  return convert(schema as ValibotNode, name);
}

function convert(node: ValibotNode, name: string): Schema {
  const schema = convertType(node, name);
  for (const action of node.pipe?.slice(1) ?? []) Object.assign(schema, convertAction(action, schema, name));
  return schema;
}

function convertType(node: ValibotNode, name: string): Schema {
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
      return { enum: node.options };
    case "array":
      return { type: "array", items: convert(node.item!, name) };
    case "tuple":
    case "strict_tuple":
    case "loose_tuple":
    case "tuple_with_rest":
      return convertTuple(node, name);
    case "object":
    case "strict_object":
    case "loose_object":
    case "object_with_rest":
      return convertObject(node, name);
    case "record":
      return {
        type: "object",
        propertyNames: convert(node.key!, name),
        additionalProperties: convert(node.value!, name),
      };
    case "optional":
    case "exact_optional": {
      const wrapped = convert(node.wrapped!, name);
      return node.default === undefined || typeof node.default === "function"
        ? wrapped
        : { ...wrapped, default: node.default };
    }
    case "nullable":
      return { anyOf: [convert(node.wrapped!, name), { type: "null" }] };
    case "union":
    case "variant":
      return { anyOf: node.options!.map((option) => convert(option as ValibotNode, name)) };
    case "intersect":
      return { allOf: node.options!.map((option) => convert(option as ValibotNode, name)) };
    default:
      throw unsayable(node, name);
  }
}

function convertObject(node: ValibotNode, name: string): Schema {
  const entries = Object.entries(node.entries!);
  const required = entries.filter(([, entry]) => !/optional$|nullish$/.test(entry.type)).map(([key]) => key);
  return {
    type: "object",
    properties: Object.fromEntries(entries.map(([key, entry]) => [key, convert(entry, name)])),
    ...(required.length > 0 && { required }),
    ...(node.type === "strict_object" && { additionalProperties: false }),
    ...(node.type === "object_with_rest" && { additionalProperties: convert(node.rest!, name) }),
  };
}

function convertTuple(node: ValibotNode, name: string): Schema {
  const items = node.items!.map((item) => convert(item, name));
  return {
    type: "array",
    prefixItems: items,
    minItems: items.length,
    ...(node.type === "strict_tuple" && { maxItems: items.length }),
    ...(node.type === "tuple_with_rest" && { items: convert(node.rest!, name) }),
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

function convertAction(action: ValibotNode, schema: Schema, name: string): Schema {
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
    case "regex":
      return { pattern: (requirement as RegExp).source };
    case "starts_with":
      return { pattern: "^" + escapePattern(requirement as string) };
    case "ends_with":
      return { pattern: escapePattern(requirement as string) + "$" };
    case "trim":
    case "to_lower_case":
    case "to_upper_case":
    case "brand":
    case "readonly":
    case "metadata":
      // These change or name what comes in; what may come in stays the same.
      return {};
    default:
      throw unsayable(action, name);
  }
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function unsayable({ type }: ValibotNode, name: string): TypeError {
  return new TypeError(
    `Cannot define "${name}": JSON Schema cannot say valibot's "${type}"; pass a JSON Schema instead`,
  );
}
