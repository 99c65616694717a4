/**
 * Keywords for arrays (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.1 and
 * https://json-schema.org/draft/2020-12/json-schema-validation#section-6.4).
 *
 * @module
 */
import { type Check, type Compile, count, expect, fits, refuse, wrongOperand } from "./check.ts";
import { jsonEquals } from "./value.ts";

/** The check of a keyword; `"nothing"` when another keyword does its work; `undefined` when it is not one of these. */
export function compileArray(
  keyword: string,
  operand: unknown,
  schema: Readonly<Record<string, unknown>>,
  at: string,
  compile: Compile,
): Check | "nothing" | undefined {
  const bounded = (message: string, passes: (length: number, bound: number) => boolean): Check => {
    const bound = count(operand, at, 0);
    return expect(
      `${message} ${bound} items`,
      (value) => !Array.isArray(value) || passes(value.length, bound),
    );
  };
  switch (keyword) {
    case "minItems":
      return bounded("must have at least", (length, bound) => length >= bound);
    case "maxItems":
      return bounded("must have at most", (length, bound) => length <= bound);
    case "uniqueItems":
      return operand === true
        ? expect("must have no item twice", (value) => !Array.isArray(value) || isUnique(value))
        : "nothing";
    case "prefixItems": {
      if (!Array.isArray(operand)) throw wrongOperand(at, "a list of schemas");
      const items = operand.map((each, i) => compile(each, `${at}/${i}`));
      return eachItem((index) => items[index], 0);
    }
    case "items": {
      const item = compile(operand, at);
      return eachItem(() => item, Array.isArray(schema.prefixItems) ? schema.prefixItems.length : 0);
    }
    case "contains": {
      const item = compile(operand, at);
      const least = schema.minContains === undefined ? 1 : count(schema.minContains, at, 0);
      const most = schema.maxContains === undefined ? Infinity : count(schema.maxContains, at, 0);
      const fail = refuse(`must contain ${least} to ${most} items of a kind`);
      return (value, path, found, depth) => {
        if (!Array.isArray(value)) return true;
        const matching = value.filter((each) => fits(item, each, path, depth)).length;
        return matching >= least && matching <= most || fail(value, path, found, depth);
      };
    }
    case "minContains":
    case "maxContains":
      return "nothing";
    default:
      return undefined;
  }
}

function eachItem(checkOf: (index: number) => Check | undefined, from: number): Check {
  return (value, path, found, depth) => {
    if (!Array.isArray(value)) return true;
    let fitting = true;
    for (let i = from; i < value.length; i++) {
      const check = checkOf(i);
      if (!check) break;
      fitting = check(value[i], `${path}/${i}`, found, depth) && fitting;
    }
    return fitting;
  };
}

/** By comparing each pair only among items that look alike. */
function isUnique(items: readonly unknown[]): boolean {
  const seen = new Map<string, unknown[]>();
  for (const item of items) {
    const look = typeof item === "object" && item !== null
      ? `${Object.keys(item).length}`
      : JSON.stringify(item) + typeof item;
    const alike = seen.get(look) ?? [];
    if (alike.some((other) => jsonEquals(item, other))) return false;
    alike.push(item);
    seen.set(look, alike);
  }
  return true;
}
