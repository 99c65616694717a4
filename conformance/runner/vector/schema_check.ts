/**
 * Checks files against the kit's own schemas, as far as these go (JSON Schema 2020-12, the keywords that they use), and says
 * the first thing that is wrong in words.
 *
 * @module
 */
import { isEqual } from "./match.ts";
import { isMembers, type Members } from "./vector_file.ts";

export interface Wrong {
  readonly path: readonly (string | number)[];
  readonly why: string;
}

/** Gives schemas by file name, and parts of them. */
export type Schemas = (reference: string) => unknown;

type Path = readonly (string | number)[];

/** The first thing that is wrong with a value, or nothing. */
export function checkSchema(
  schema: unknown,
  value: unknown,
  schemas: Schemas,
  path: Path = [],
): Wrong | undefined {
  if (schema === false) return { path, why: "must not be there" };
  if (!isMembers(schema)) return undefined;
  const wrong = (why: string): Wrong => ({ path, why });
  if (typeof schema["$ref"] === "string") {
    const found = checkSchema(schemas(schema["$ref"]), value, schemas, path);
    if (found) return found;
  }
  if (typeof schema["type"] === "string" && !isType(schema["type"], value)) {
    return wrong(`must be ${TYPES[schema["type"]]}, but is ${nameOf(value)}`);
  }
  if ("const" in schema && !isEqual(schema["const"], value)) {
    return wrong(`must be ${JSON.stringify(schema["const"])}`);
  }
  if (Array.isArray(schema["enum"]) && !schema["enum"].some((each) => isEqual(each, value))) {
    return wrong(`must be one of ${schema["enum"].map((each) => JSON.stringify(each)).join(", ")}`);
  }
  return checkScalar(schema, value, wrong) ?? checkChoices(schema, value, schemas, path) ??
    (Array.isArray(value) ? checkItems(schema, value, schemas, path) : undefined) ??
    (isMembers(value) ? checkMembers(schema, value, schemas, path) : undefined);
}

function checkScalar(schema: Members, value: unknown, wrong: (why: string) => Wrong): Wrong | undefined {
  if (typeof value === "number") {
    const { minimum, maximum, exclusiveMinimum } = schema as Readonly<Record<string, number | undefined>>;
    if (minimum !== undefined && value < minimum) return wrong(`must be at least ${minimum}`);
    if (exclusiveMinimum !== undefined && value <= exclusiveMinimum) {
      return wrong(`must be more than ${exclusiveMinimum}`);
    }
    if (maximum !== undefined && value > maximum) return wrong(`must be at most ${maximum}`);
  }
  if (typeof value === "string" && typeof schema["pattern"] === "string") {
    if (!new RegExp(schema["pattern"], "u").test(value)) {
      return wrong(`must match ${schema["pattern"]}, but is ${JSON.stringify(value)}`);
    }
  }
  return undefined;
}

function checkChoices(schema: Members, value: unknown, schemas: Schemas, path: Path): Wrong | undefined {
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as readonly unknown[] | undefined;
  if (choices) {
    const all = choices.map((choice) => checkSchema(choice, value, schemas, path));
    // The choice that got furthest is the one that was meant.
    if (all.every((each) => each !== undefined)) return best(all, choices, value, schemas);
  }
  if (schema["not"] !== undefined && !checkSchema(schema["not"], value, schemas, path)) {
    return { path, why: "has members that do not go together" };
  }
  if (schema["if"] === undefined) return undefined;
  const isIf = !checkSchema(schema["if"], value, schemas, path);
  return checkSchema(schema[isIf ? "then" : "else"], value, schemas, path);
}

function best(all: readonly Wrong[], choices: readonly unknown[], value: unknown, schemas: Schemas): Wrong {
  const shared = choices.map((choice) => {
    const { properties, $ref } = (isMembers(choice) ? choice : {}) as { properties?: Members; $ref?: string };
    const known = properties ??
      ($ref === undefined ? undefined : (schemas($ref) as { properties?: Members }).properties);
    const members = isMembers(value) ? Object.keys(value).filter((name) => known && name in known).length : 0;
    return members;
  });
  const order = all.map((wrong, at) => ({ wrong, score: wrong.path.length * 10 + shared[at]! }));
  order.sort((one, other) => other.score - one.score);
  const [first, second] = order;
  if (second && first!.score === second.score && first!.wrong.path.length === all[0]!.path.length) {
    const whys = [
      ...new Set(order.filter(({ score }) => score === first!.score).map(({ wrong }) => wrong.why)),
    ];
    return { path: first!.wrong.path, why: whys.join(", or ") };
  }
  return first!.wrong;
}

function checkItems(
  schema: Members,
  value: readonly unknown[],
  schemas: Schemas,
  path: Path,
): Wrong | undefined {
  const { minItems, maxItems } = schema as Readonly<Record<string, number | undefined>>;
  if (minItems !== undefined && value.length < minItems) {
    return { path, why: `must have at least ${minItems} item` };
  }
  if (maxItems !== undefined && value.length > maxItems) {
    return { path, why: `must have at most ${maxItems} items` };
  }
  for (const [at, item] of value.entries()) {
    const found = checkSchema(schema["items"], item, schemas, [...path, at]);
    if (found) return found;
  }
  return undefined;
}

function checkMembers(schema: Members, value: Members, schemas: Schemas, path: Path): Wrong | undefined {
  const known = isMembers(schema["properties"]) ? schema["properties"] : {};
  for (const name of (schema["required"] ?? []) as readonly string[]) {
    if (!Object.hasOwn(value, name)) return { path, why: `must have "${name}"` };
  }
  for (const [name, member] of Object.entries(value)) {
    const place = [...path, name];
    if (checkSchema(schema["propertyNames"], name, schemas, place)) {
      return { path: place, why: "is no name that may stand here" };
    }
    if (Object.hasOwn(known, name)) {
      const found = checkSchema(known[name], member, schemas, place);
      if (found) return found;
    } else if (schema["additionalProperties"] === false) {
      const near = nearest(name, Object.keys(known));
      return { path: place, why: `is not known here${near === undefined ? "" : `; is "${near}" meant?`}` };
    } else {
      const found = checkSchema(schema["additionalProperties"], member, schemas, place);
      if (found) return found;
    }
  }
  const { minProperties, maxProperties } = schema as Readonly<Record<string, number | undefined>>;
  const count = Object.keys(value).length;
  if (minProperties !== undefined && count < minProperties) {
    return { path, why: `must have ${minProperties} members` };
  }
  if (maxProperties !== undefined && count > maxProperties) {
    return { path, why: `must have at most ${maxProperties} members` };
  }
  return undefined;
}

const TYPES: Readonly<Record<string, string>> = {
  string: "a text",
  number: "a number",
  integer: "a whole number",
  boolean: "true or false",
  object: "an object",
  array: "a list",
  null: "null",
};

function isType(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return isMembers(value);
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  const kind: string = typeof value;
  return kind === type;
}

function nameOf(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "a list" : TYPES[typeof value] ?? typeof value;
}

/** The name that differs in a letter or two. */
function nearest(name: string, names: readonly string[]): string | undefined {
  const near =
    names.map((each) => [distance(name, each), each] as const).sort(([one], [other]) => one - other)[0];
  return near && near[0] <= 2 ? near[1] : undefined;
}

function distance(one: string, other: string): number {
  let row = Array.from({ length: other.length + 1 }, (_, at) => at);
  for (const [at, letter] of [...one].entries()) {
    const next = [at + 1];
    for (const [to, wanted] of [...other].entries()) {
      next.push(Math.min(next[to]! + 1, row[to + 1]! + 1, row[to]! + (letter === wanted ? 0 : 1)));
    }
    row = next;
  }
  return row.at(-1)!;
}
