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

interface Place {
  /** Of the definition, for messages. */
  readonly name: string;
  readonly use: "input" | "output";
}

/**
 * The JSON Schema of what comes in, or of what valibot makes of it.
 * @throws {TypeError} naming the part that JSON Schema cannot say
 */
export function toJsonSchema(schema: unknown, name: string, use: "input" | "output" = "input"): Schema {
  return convert(schema as ValibotNode, { name, use });
}

function convert(node: ValibotNode, at: Place): Schema {
  const schema = convertType(node, at);
  for (const action of node.pipe?.slice(1) ?? []) {
    if (at.use === "output" && /^(trim|to_)/.test(action.type)) forgetText(schema);
    const more = convertAction(action, schema, at);
    // One pattern is a keyword; more of them are schemas that must all fit.
    if ("pattern" in more && "pattern" in schema) schema.allOf = [...(schema.allOf as Schema[] ?? []), more];
    else Object.assign(schema, more);
  }
  return schema;
}

function convertType(node: ValibotNode, at: Place): Schema {
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
      // Some that read it want the type as well.
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
      // A default stands for null too, so that none comes out.
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
      throw unsayable(node, at);
  }
}

/** Defaults that are made anew for each call cannot be told. */
function defaultOf(node: ValibotNode): Schema {
  return node.default === undefined || typeof node.default === "function" ? {} : { default: node.default };
}

function convertObject(node: ValibotNode, at: Place): Schema {
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

function convertTuple(node: ValibotNode, at: Place): Schema {
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

function convertAction(action: ValibotNode, schema: Schema, at: Place): Schema {
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
      // JSON Schema reads patterns as with "u"; the others change what fits.
      if (/[imsv]/.test(flags)) throw unsayable({ ...action, type: `regex with flag "${flags}"` }, at);
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
      // These change or name what comes in; what may come in stays the same.
      return {};
    default:
      throw unsayable(action, at);
  }
}

/** Text that is changed after it was checked need not fit any longer. */
function forgetText(schema: Schema): void {
  for (const keyword of Object.keys(schema)) {
    if (keyword !== "title" && keyword !== "description") delete schema[keyword];
  }
  schema.type = "string";
}

function escapePattern(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, "\\$&");
}

function unsayable({ type }: ValibotNode, { name }: Place): TypeError {
  return new TypeError(
    `Cannot define "${name}": valibot's "${type}" cannot be converted to JSON Schema. Pass a JSON Schema object instead`,
  );
}
