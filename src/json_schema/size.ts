/**
 * The keywords that limit the size of a value: its characters, items or properties
 * (https://json-schema.org/draft/2020-12/json-schema-validation#section-6.3).
 *
 * @module
 */
import type { Keyword } from "./keyword.ts";
import { readCount } from "./keyword_value.ts";
import type { Run } from "./run.ts";
import { pluralize } from "./message_text.ts";

/** The size of a value. It may be inexact if it is on the right side of the bound. */
type Measure<Value> = (value: Value, run: Run, bound: number) => number;

export function atLeast<Value>(noun: string, measure: Measure<Value>): Keyword<Value> {
  return compileLimit("least", noun, measure, (size, bound) => size >= bound);
}

export function atMost<Value>(noun: string, measure: Measure<Value>): Keyword<Value> {
  return compileLimit("most", noun, measure, (size, bound) => size <= bound);
}

function compileLimit<Value>(
  side: string,
  noun: string,
  measure: Measure<Value>,
  passes: (size: number, bound: number) => boolean,
): Keyword<Value> {
  return (keywordValue, at) => {
    const bound = readCount(keywordValue, at);
    const message = `must have at ${side} ${pluralize(bound, noun)}`;
    return (value, run) =>
      passes(measure(value, run, bound), bound) ||
      run.isReporting && run.reportMismatch(message, measure(value, run, NaN), "has");
  };
}
