/**
 * Keywords for arrays (https://json-schema.org/draft/2020-12/json-schema-core#section-10.3.1 and
 * https://json-schema.org/draft/2020-12/json-schema-validation#section-6.4).
 *
 * @module
 */
import { acceptAll, compiledElsewhere, type KeywordContext, type Keywords } from "./keyword.ts";
import { ValueSet } from "./equal.ts";
import { invalidKeyword, readCount, readList } from "./keyword_value.ts";
import type { Check, Run } from "./run.ts";
import { atLeast, atMost } from "./size.ts";
import { pluralize, toJsonText } from "./message_text.ts";

type Items = readonly unknown[];

/** Steps to compare an item with the earlier items. */
const STEPS_PER_UNIQUE_ITEM = 12;

export const arrayKeywords: Keywords<Items> = {
  minItems: atLeast("item", (value) => value.length),
  maxItems: atMost("item", (value) => value.length),
  uniqueItems(keywordValue, at) {
    if (typeof keywordValue !== "boolean") throw invalidKeyword(at, "true or false", keywordValue);
    if (!keywordValue) return undefined;
    return (value, run) => {
      const items = new ValueSet();
      const duplicate = run.takeSteps(STEPS_PER_UNIQUE_ITEM * value.length)
        ? value.findIndex((item) => !items.add(item, run))
        : 0;
      return duplicate < 0 ||
        run.report(`items must be unique, but item ${duplicate} equals an earlier item`);
    };
  },

  // compileItems() handles both in one loop.
  prefixItems: compiledElsewhere,
  items: compiledElsewhere,

  contains(keywordValue, at, { schema: { minContains, maxContains }, compile }) {
    const check = compile(keywordValue, at);
    const min = minContains === undefined ? 1 : readCount(minContains, at);
    const max = maxContains === undefined ? Infinity : readCount(maxContains, at);
    const message = max < Infinity
      ? `must contain ${min} to ${pluralize(max, "item")} matching ${toJsonText(keywordValue)}`
      : `must contain at least ${pluralize(min, "item")} matching ${toJsonText(keywordValue)}`;
    return (value, run, evaluated) => {
      let count = 0;
      for (let i = 0; i < value.length; i++) {
        if (!run.matches(check, value[i], undefined)) continue;
        count++;
        if (evaluated) evaluated.each.push(i);
        else if (max === Infinity ? count >= min : count > max) break;
      }
      if (!run.takeSteps(value.length)) return false;
      return count >= min && count <= max || run.reportMismatch(message, count, "has");
    };
  },
  minContains: (keywordValue, at) => void readCount(keywordValue, at),
  maxContains: (keywordValue, at) => void readCount(keywordValue, at),
};

/** The check of `prefixItems` and `items`; `undefined` when the schema has neither. */
export function compileItems(
  at: string,
  { schema: { prefixItems, items }, compile }: KeywordContext,
): Check<Items> | undefined {
  if (prefixItems === undefined && items === undefined) return undefined;
  if (Array.isArray(items)) {
    throw invalidKeyword(`${at}/items`, 'a schema (use "prefixItems" for an array of schemas)', items);
  }
  const first = prefixItems === undefined
    ? []
    : readList(prefixItems, `${at}/prefixItems`).map((each, i) => compile(each, `${at}/prefixItems/${i}`));
  const others = items === undefined ? undefined : compile(items, `${at}/items`);
  return (value, run, evaluated) => {
    if (evaluated) {
      evaluated.all ||= others !== undefined;
      evaluated.before = Math.max(evaluated.before, first.length);
    }
    return checkItems(value, run, 0, first, others === acceptAll ? undefined : others);
  };
}

/** The check of the items that no other keyword has evaluated. */
export function unevaluatedItems(
  keywordValue: unknown,
  at: string,
  { compile }: KeywordContext,
): Check<Items> {
  const check = compile(keywordValue, at);
  return (value, run, evaluated) =>
    evaluated!.all || check === acceptAll ||
    checkItems(value, run, evaluated!.before, [], check, new Set(evaluated!.each));
}

/** Checks the first items with one check each, and the others, without `except`, with one check. */
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
    fits = run.prefixPaths(length, i);
    if (!run.isReporting) break;
  }
  return fits;
}
