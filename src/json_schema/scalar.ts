/**
 * Keywords for strings and numbers (https://json-schema.org/draft/2020-12/json-schema-validation#section-6.2 and
 * #section-6.3).
 *
 * @module
 */
import type { Keyword, Keywords } from "./keyword.ts";
import { invalidKeyword, readNumber } from "./keyword_value.ts";
import { compilePattern } from "./pattern.ts";
import type { Run } from "./run.ts";
import { atLeast, atMost } from "./size.ts";
import { countCodePoints, isMultiple } from "./value.ts";
import { truncate } from "./message_text.ts";

export const stringKeywords: Keywords<string> = {
  minLength: atLeast("character", countCharacters),
  maxLength: atMost("character", countCharacters),
  pattern(keywordValue, at) {
    const matches = compilePattern(keywordValue, at);
    const message = `must match the pattern ${truncate(keywordValue as string, 100)}`;
    return (value, run) => matches(value, run) || run.reportMismatch(message, value);
  },
};

/** Steps to divide a number that is not an integer. */
const STEPS_PER_DECIMAL = 50;

/** A character has one or two UTF-16 code units, so most strings need no counting. */
function countCharacters(value: string, run: Run, bound: number): number {
  const { length } = value;
  return length < bound || length > 2 * bound || !run.takeSteps(length >> 4)
    ? length
    : countCodePoints(value);
}

export const numberKeywords: Keywords<number> = {
  minimum: compileComparison("at least", (value, bound) => value >= bound),
  maximum: compileComparison("at most", (value, bound) => value <= bound),
  exclusiveMinimum: compileComparison("greater than", (value, bound) => value > bound),
  exclusiveMaximum: compileComparison("less than", (value, bound) => value < bound),
  multipleOf(keywordValue, at, context) {
    if (readNumber(keywordValue, at) <= 0) throw invalidKeyword(at, "a number greater than 0", keywordValue);
    const check = compileComparison("a multiple of", isMultiple)(keywordValue, at, context)!;
    const isWhole = Number.isSafeInteger(keywordValue);
    return (value, run, evaluated) =>
      (isWhole && Number.isSafeInteger(value) || run.takeSteps(STEPS_PER_DECIMAL)) &&
      check(value, run, evaluated);
  },
};

function compileComparison(
  relation: string,
  passes: (value: number, bound: number) => boolean,
): Keyword<number> {
  return (keywordValue, at) => {
    const bound = readNumber(keywordValue, at);
    const message = `must be ${relation} ${bound}`;
    return (value, run) => passes(value, bound) || run.reportMismatch(message, value);
  };
}
