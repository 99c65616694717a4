/**
 * Keywords for strings and numbers (https://json-schema.org/draft/2020-12/json-schema-validation#section-6.2 and
 * #section-6.3).
 *
 * @module
 */
import type { Keyword, Keywords } from "./keyword.ts";
import { numberOf, operandError } from "./operand.ts";
import { compilePattern } from "./pattern.ts";
import type { Run } from "./run.ts";
import { atLeast, atMost } from "./size.ts";
import { codePoints, isMultiple } from "./value.ts";
import { clip } from "./words.ts";

export const stringKeywords: Keywords<string> = {
  minLength: atLeast("character", characters),
  maxLength: atMost("character", characters),
  pattern(operand, at) {
    const matches = compilePattern(operand, at);
    const message = `must match the pattern ${clip(operand as string, 100)}`;
    return (value, run) => matches(value, run) || run.refuseFor(message, value);
  },
};

/** Steps to divide what is no whole number, digit by digit. */
const DECIMAL = 50;

/** A character is one unit of the string or two: most lengths need no counting. */
function characters(value: string, run: Run, bound: number): number {
  const { length } = value;
  return length < bound || length > 2 * bound || !run.spend(length >> 4) ? length : codePoints(value);
}

export const numberKeywords: Keywords<number> = {
  minimum: compared("at least", (value, bound) => value >= bound),
  maximum: compared("at most", (value, bound) => value <= bound),
  exclusiveMinimum: compared("greater than", (value, bound) => value > bound),
  exclusiveMaximum: compared("less than", (value, bound) => value < bound),
  multipleOf(operand, at, around) {
    if (numberOf(operand, at) <= 0) throw operandError(at, "a number greater than 0", operand);
    const check = compared("a multiple of", isMultiple)(operand, at, around)!;
    const isWhole = Number.isSafeInteger(operand);
    return (value, run, seen) =>
      (isWhole && Number.isSafeInteger(value) || run.spend(DECIMAL)) && check(value, run, seen);
  },
};

function compared(relation: string, passes: (value: number, bound: number) => boolean): Keyword<number> {
  return (operand, at) => {
    const bound = numberOf(operand, at);
    const message = `must be ${relation} ${bound}`;
    return (value, run) => passes(value, bound) || run.refuseFor(message, value);
  };
}
