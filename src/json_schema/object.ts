/**
 * Keywords for objects (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.2 and
 * https://json-schema.org/draft/2020-12/json-schema-validation#section-6.5).
 *
 * @module
 */
import {
  type Check,
  type Compile,
  count,
  expect,
  fits,
  refuse,
  regularExpression,
  wrongOperand,
} from "./check.ts";
import { isObject } from "./value.ts";

/** The check of a keyword; `"nothing"` when another keyword does its work; `undefined` when it is not one of these. */
export function compileObject(
  keyword: string,
  operand: unknown,
  schema: Readonly<Record<string, unknown>>,
  at: string,
  compile: Compile,
): Check | "nothing" | undefined {
  const bounded = (message: string, passes: (size: number, bound: number) => boolean): Check => {
    const bound = count(operand, at, 0);
    return expect(
      `${message} ${bound} members`,
      (value) => !isObject(value) || passes(Object.keys(value).length, bound),
    );
  };
  switch (keyword) {
    case "minProperties":
      return bounded("must have at least", (size, bound) => size >= bound);
    case "maxProperties":
      return bounded("must have at most", (size, bound) => size <= bound);
    case "required":
      return each(names(operand, at), (name) => requires(name));
    case "properties":
      return each(Object.entries(schemas(operand, at)), ([name, member]) => {
        const check = compile(member, `${at}/${name}`);
        const place = "/" + escapePointer(name);
        return (value, path, found, depth) =>
          !isObject(value) || !Object.hasOwn(value, name) || check(value[name], path + place, found, depth);
      });
    case "patternProperties":
      return each(Object.entries(schemas(operand, at)), ([source, member]) => {
        const pattern = regularExpression(source, at);
        const check = compile(member, `${at}/${source}`);
        return eachMember((name) => pattern.test(name) ? check : undefined);
      });
    case "additionalProperties": {
      const listed = new Set(Object.keys(isObject(schema.properties) ? schema.properties : {}));
      const patterns = Object.keys(isObject(schema.patternProperties) ? schema.patternProperties : {});
      const matching = patterns.map((source) => regularExpression(source, at));
      const check = operand === false ? refuse("is not a known member") : compile(operand, at);
      return eachMember((name) =>
        listed.has(name) || matching.some((pattern) => pattern.test(name)) ? undefined : check
      );
    }
    case "propertyNames": {
      const check = compile(operand, at);
      const fail = refuse("must have only allowed member names");
      return (value, path, found, depth) =>
        !isObject(value) || Object.keys(value).every((name) => fits(check, name, path, depth)) ||
        fail(value, path, found, depth);
    }
    case "dependentRequired":
      return each(Object.entries(schemas(operand, at)), ([name, needed]) => {
        const required = each(names(needed, at), (needs) => requires(needs));
        return (value, path, found, depth) =>
          !isObject(value) || !Object.hasOwn(value, name) || required(value, path, found, depth);
      });
    case "dependentSchemas":
      return each(Object.entries(schemas(operand, at)), ([name, member]) => {
        const check = compile(member, `${at}/${name}`);
        return (value, path, found, depth) =>
          !isObject(value) || !Object.hasOwn(value, name) || check(value, path, found, depth);
      });
    default:
      return undefined;
  }
}

function requires(name: string): Check {
  return expect(`must have the member "${name}"`, (value) => !isObject(value) || Object.hasOwn(value, name));
}

/** All of the checks made of a list. */
function each<Item>(items: readonly Item[], make: (item: Item) => Check): Check {
  const checks = items.map(make);
  return (value, path, found, depth) => {
    let fitting = true;
    for (const check of checks) fitting = check(value, path, found, depth) && fitting;
    return fitting;
  };
}

function eachMember(checkOf: (name: string) => Check | undefined): Check {
  return (value, path, found, depth) => {
    if (!isObject(value)) return true;
    let fitting = true;
    for (const name of Object.keys(value)) {
      const check = checkOf(name);
      if (check) fitting = check(value[name], `${path}/${escapePointer(name)}`, found, depth) && fitting;
    }
    return fitting;
  };
}

function schemas(operand: unknown, at: string): Record<string, unknown> {
  if (!isObject(operand)) throw wrongOperand(at, "an object");
  return operand;
}

function names(operand: unknown, at: string): string[] {
  if (!Array.isArray(operand) || operand.some((name) => typeof name !== "string")) {
    throw wrongOperand(at, "a list of names");
  }
  return operand;
}

function escapePointer(name: string): string {
  return name.replaceAll("~", "~0").replaceAll("/", "~1");
}
