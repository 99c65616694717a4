/**
 * The keywords that bound how much there is of a value: characters, items, members
 * (https://json-schema.org/draft/2020-12/json-schema-validation#section-6.3).
 *
 * @module
 */
import type { Keyword } from "./keyword.ts";
import { countOf } from "./operand.ts";
import type { Run } from "./run.ts";
import { many } from "./words.ts";

/** The size of a value. It may be wrong where it is not near the bound, if it stays on the same side of it. */
type Measure<Value> = (value: Value, run: Run, bound: number) => number;

export function atLeast<Value>(noun: string, measure: Measure<Value>): Keyword<Value> {
  return sized("least", noun, measure, (size, bound) => size >= bound);
}

export function atMost<Value>(noun: string, measure: Measure<Value>): Keyword<Value> {
  return sized("most", noun, measure, (size, bound) => size <= bound);
}

function sized<Value>(
  side: string,
  noun: string,
  measure: Measure<Value>,
  passes: (size: number, bound: number) => boolean,
): Keyword<Value> {
  return (operand, at) => {
    const bound = countOf(operand, at);
    const message = `must have at ${side} ${many(bound, noun)}`;
    return (value, run) =>
      passes(measure(value, run, bound), bound) ||
      run.loud && run.refuseFor(message, measure(value, run, NaN), "has");
  };
}
