/**
 * Checks JSON files against the schemas of the kit, with the JSON Schema 2020-12 keywords that these use,
 * and reports the first problem.
 *
 * @module
 */
import { TYPE_NAMES } from "../report/describe.ts";
import { isEqual } from "./match.ts";
import { isJsonObject, type JsonObject } from "./vector_file.ts";

export interface SchemaProblem {
  readonly path: readonly (string | number)[];
  readonly why: string;
}

/** Resolves a reference to a schema: a file name and a JSON Pointer. */
export type Schemas = (reference: string) => unknown;

type Path = readonly (string | number)[];

/** The first problem of a value, or `undefined`. */
export function findSchemaProblem(
  schema: unknown,
  value: unknown,
  schemas: Schemas,
  path: Path = [],
): SchemaProblem | undefined {
  if (schema === false) return { path, why: "must be absent" };
  if (!isJsonObject(schema)) return undefined;
  const wrong = (why: string): SchemaProblem => ({ path, why });
  if (typeof schema["$ref"] === "string") {
    const found = findSchemaProblem(schemas(schema["$ref"]), value, schemas, path);
    if (found) return found;
  }
  if (typeof schema["type"] === "string" && !isType(schema["type"], value)) {
    return wrong(`must be ${TYPE_NAMES[schema["type"]]}, not ${describeType(value)}`);
  }
  if ("const" in schema && !isEqual(schema["const"], value)) {
    return wrong(`must be ${JSON.stringify(schema["const"])}`);
  }
  if (Array.isArray(schema["enum"]) && !schema["enum"].some((each) => isEqual(each, value))) {
    return wrong(`must be one of ${schema["enum"].map((each) => JSON.stringify(each)).join(", ")}`);
  }
  return checkScalar(schema, value, wrong) ?? checkChoices(schema, value, schemas, path) ??
    (Array.isArray(value) ? checkItems(schema, value, schemas, path) : undefined) ??
    (isJsonObject(value) ? checkMembers(schema, value, schemas, path) : undefined);
}

function checkScalar(
  schema: JsonObject,
  value: unknown,
  wrong: (why: string) => SchemaProblem,
): SchemaProblem | undefined {
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
      return wrong(`must match ${schema["pattern"]}, not ${JSON.stringify(value)}`);
    }
  }
  return undefined;
}

function checkChoices(
  schema: JsonObject,
  value: unknown,
  schemas: Schemas,
  path: Path,
): SchemaProblem | undefined {
  const choices = (schema["anyOf"] ?? schema["oneOf"]) as readonly unknown[] | undefined;
  if (choices) {
    const all = choices.map((choice) => findSchemaProblem(choice, value, schemas, path));
    // The alternative that matches furthest is probably the intended one.
    if (all.every((each) => each !== undefined)) return findClosestProblem(all, choices, value, schemas);
  }
  if (schema["not"] !== undefined && !findSchemaProblem(schema["not"], value, schemas, path)) {
    return { path, why: "has properties that exclude each other" };
  }
  if (schema["if"] === undefined) return undefined;
  const isIf = !findSchemaProblem(schema["if"], value, schemas, path);
  return findSchemaProblem(schema[isIf ? "then" : "else"], value, schemas, path);
}

function findClosestProblem(
  all: readonly SchemaProblem[],
  choices: readonly unknown[],
  value: unknown,
  schemas: Schemas,
): SchemaProblem {
  const shared = choices.map((choice) => {
    const { properties, $ref } = (isJsonObject(choice) ? choice : {}) as {
      properties?: JsonObject;
      $ref?: string;
    };
    const known = properties ??
      ($ref === undefined ? undefined : (schemas($ref) as { properties?: JsonObject }).properties);
    const members = isJsonObject(value)
      ? Object.keys(value).filter((name) => known && name in known).length
      : 0;
    return members;
  });
  const order = all.map((wrong, at) => ({ wrong, score: wrong.path.length * 10 + shared[at]! }));
  order.sort((one, other) => other.score - one.score);
  const [first, second] = order;
  if (second && first!.score === second.score && first!.wrong.path.length === all[0]!.path.length) {
    const reasons = [
      ...new Set(order.filter(({ score }) => score === first!.score).map(({ wrong }) => wrong.why)),
    ];
    return { path: first!.wrong.path, why: reasons.join(", or ") };
  }
  return first!.wrong;
}

function checkItems(
  schema: JsonObject,
  value: readonly unknown[],
  schemas: Schemas,
  path: Path,
): SchemaProblem | undefined {
  const { minItems, maxItems } = schema as Readonly<Record<string, number | undefined>>;
  if (minItems !== undefined && value.length < minItems) {
    return { path, why: `must have at least ${minItems} items` };
  }
  if (maxItems !== undefined && value.length > maxItems) {
    return { path, why: `must have at most ${maxItems} items` };
  }
  for (const [at, item] of value.entries()) {
    const found = findSchemaProblem(schema["items"], item, schemas, [...path, at]);
    if (found) return found;
  }
  return undefined;
}

function checkMembers(
  schema: JsonObject,
  value: JsonObject,
  schemas: Schemas,
  path: Path,
): SchemaProblem | undefined {
  const known = isJsonObject(schema["properties"]) ? schema["properties"] : {};
  for (const name of (schema["required"] ?? []) as readonly string[]) {
    if (!Object.hasOwn(value, name)) return { path, why: `must have property "${name}"` };
  }
  for (const [name, member] of Object.entries(value)) {
    const place = [...path, name];
    if (findSchemaProblem(schema["propertyNames"], name, schemas, place)) {
      return { path: place, why: "is not an allowed property name" };
    }
    if (Object.hasOwn(known, name)) {
      const found = findSchemaProblem(known[name], member, schemas, place);
      if (found) return found;
    } else if (schema["additionalProperties"] === false) {
      const near = findNearest(name, Object.keys(known));
      return {
        path: place,
        why: `is an unknown property${near === undefined ? "" : `; did you mean "${near}"?`}`,
      };
    } else {
      const found = findSchemaProblem(schema["additionalProperties"], member, schemas, place);
      if (found) return found;
    }
  }
  const { minProperties, maxProperties } = schema as Readonly<Record<string, number | undefined>>;
  const count = Object.keys(value).length;
  if (minProperties !== undefined && count < minProperties) {
    return { path, why: `must have at least ${minProperties} properties` };
  }
  if (maxProperties !== undefined && count > maxProperties) {
    return { path, why: `must have at most ${maxProperties} properties` };
  }
  return undefined;
}

function isType(type: string, value: unknown): boolean {
  if (type === "integer") return Number.isInteger(value);
  if (type === "object") return isJsonObject(value);
  if (type === "array") return Array.isArray(value);
  if (type === "null") return value === null;
  const kind: string = typeof value;
  return kind === type;
}

function describeType(value: unknown): string {
  if (value === null || typeof value === "boolean") return String(value);
  return Array.isArray(value) ? "an array" : TYPE_NAMES[typeof value] ?? typeof value;
}

/** The known name within two edits of a name, if any. */
function findNearest(name: string, names: readonly string[]): string | undefined {
  const near =
    names.map((each) => [editDistance(name, each), each] as const).sort(([one], [other]) => one - other)[0];
  return near && near[0] <= 2 ? near[1] : undefined;
}

function editDistance(one: string, other: string): number {
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
