/**
 * Keywords for arrays (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.1 and
 * https://json-schema.org/draft/2020-12/json-schema-validation#section-6.4).
 *
 * @module
 */
import { elsewhere, type Keywords, pass, type Surroundings } from "./keyword.ts";
import { ValueSet } from "./equal.ts";
import { countOf, listOf, operandError } from "./operand.ts";
import type { Check, Run } from "./run.ts";
import { atLeast, atMost } from "./size.ts";
import { asWritten, many } from "./words.ts";

type Items = readonly unknown[];

/** Steps to look whether an item was there before. */
const UNIQUE_ITEM = 12;

export const arrayKeywords: Keywords<Items> = {
  minItems: atLeast("item", (value) => value.length),
  maxItems: atMost("item", (value) => value.length),
  uniqueItems(operand, at) {
    if (typeof operand !== "boolean") throw operandError(at, "true or false", operand);
    if (!operand) return undefined;
    return (value, run) => {
      const items = new ValueSet();
      const twice = run.spend(UNIQUE_ITEM * value.length)
        ? value.findIndex((item) => !items.add(item, run))
        : 0;
      return twice < 0 || run.refuse(`items must be unique, but item ${twice} equals an earlier item`);
    };
  },

  // These share one walk: compileItems().
  prefixItems: elsewhere,
  items: elsewhere,

  contains(operand, at, { schema: { minContains, maxContains }, compile }) {
    const check = compile(operand, at);
    const least = minContains === undefined ? 1 : countOf(minContains, at);
    const most = maxContains === undefined ? Infinity : countOf(maxContains, at);
    const message = most < Infinity
      ? `must contain ${least} to ${many(most, "item")} matching ${asWritten(operand)}`
      : `must contain at least ${many(least, "item")} matching ${asWritten(operand)}`;
    return (value, run, seen) => {
      let count = 0;
      for (let i = 0; i < value.length; i++) {
        if (!run.probe(check, value[i], undefined)) continue;
        count++;
        if (seen) seen.each.push(i);
        else if (most === Infinity ? count >= least : count > most) break;
      }
      if (!run.spend(value.length)) return false;
      return count >= least && count <= most || run.refuseFor(message, count, "has");
    };
  },
  minContains: (operand, at) => void countOf(operand, at),
  maxContains: (operand, at) => void countOf(operand, at),
};

/** `prefixItems` and `items`; nothing when the schema has neither. */
export function compileItems(
  at: string,
  { schema: { prefixItems, items }, compile }: Surroundings,
): Check<Items> | undefined {
  if (prefixItems === undefined && items === undefined) return undefined;
  if (Array.isArray(items)) {
    throw operandError(`${at}/items`, 'a schema (use "prefixItems" for an array of schemas)', items);
  }
  const first = prefixItems === undefined
    ? []
    : listOf(prefixItems, `${at}/prefixItems`).map((each, i) => compile(each, `${at}/prefixItems/${i}`));
  const others = items === undefined ? undefined : compile(items, `${at}/items`);
  return (value, run, seen) => {
    if (seen) {
      seen.all ||= others !== undefined;
      seen.before = Math.max(seen.before, first.length);
    }
    return checkItems(value, run, 0, first, others === pass ? undefined : others);
  };
}

/** The items that no other keyword has looked at. */
export function unevaluatedItems(operand: unknown, at: string, { compile }: Surroundings): Check<Items> {
  const check = compile(operand, at);
  return (value, run, seen) =>
    seen!.all || check === pass || checkItems(value, run, seen!.before, [], check, new Set(seen!.each));
}

/** The first items by a check each, the others by one, but for those to be left out. */
function checkItems(
  value: Items,
  run: Run,
  from: number,
  first: readonly Check[],
  others: Check | undefined,
  except?: ReadonlySet<unknown>,
): boolean {
  let fits = true;
  for (let i = from; i < value.length; i++) {
    const check = i < first.length ? first[i] : others;
    if (!check) break;
    const { length } = run.found;
    if (except?.has(i) || check(value[i], run, undefined)) continue;
    fits = run.below(length, i);
    if (!run.loud) break;
  }
  return fits;
}
