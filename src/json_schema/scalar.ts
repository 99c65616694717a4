/**
 * Keywords for numbers and strings (https://json-schema.org/draft/2020-12/json-schema-validation#section-6.2 and
 * #section-6.3).
 *
 * @module
 */
import { type Check, count, expect, regularExpression, text } from "./check.ts";

/** The check of a keyword; `undefined` when it is not one of these. */
export function compileScalar(keyword: string, operand: unknown, at: string): Check | undefined {
  const number = (message: string, passes: (value: number, bound: number) => boolean): Check => {
    const bound = count(operand, at, -Infinity);
    return expect(`${message} ${bound}`, (value) => typeof value !== "number" || passes(value, bound));
  };
  const length = (message: string, passes: (length: number, bound: number) => boolean): Check => {
    const bound = count(operand, at, 0);
    return expect(
      `${message} ${bound} characters`,
      // Characters are code points; a text of at most `bound` units needs no counting to be short enough.
      (value) => typeof value !== "string" || passes(codePoints(value), bound),
    );
  };
  switch (keyword) {
    case "minimum":
      return number("must be at least", (value, bound) => value >= bound);
    case "maximum":
      return number("must be at most", (value, bound) => value <= bound);
    case "exclusiveMinimum":
      return number("must be more than", (value, bound) => value > bound);
    case "exclusiveMaximum":
      return number("must be less than", (value, bound) => value < bound);
    case "multipleOf":
      return number("must be a multiple of", (value, bound) => {
        const quotient = value / bound;
        return Number.isFinite(quotient) &&
          Math.abs(quotient - Math.round(quotient)) < 1e-9 * Math.max(1, Math.abs(quotient));
      });
    case "minLength":
      return length("must have at least", (found, bound) => found >= bound);
    case "maxLength":
      return length("must have at most", (found, bound) => found <= bound);
    case "pattern": {
      const pattern = regularExpression(text(operand, at), at);
      return expect(
        `must match ${pattern.source}`,
        (value) => typeof value !== "string" || pattern.test(value),
      );
    }
    default:
      return undefined;
  }
}

function codePoints(value: string): number {
  let points = 0;
  for (let i = 0; i < value.length; i++, points++) {
    const unit = value.charCodeAt(i);
    if (unit >= 0xd800 && unit <= 0xdbff) i++;
  }
  return points;
}
