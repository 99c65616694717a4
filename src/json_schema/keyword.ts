/**
 * The interface of the functions that compile keywords.
 *
 * @module
 */
import type { Check } from "./run.ts";

/** The schema that contains a keyword: its keywords, by their names in 2020-12. */
export interface KeywordContext {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Compiles a subschema. */
  readonly compile: (schema: unknown, at: string) => Check;
}

/** Compiles the value of a keyword; `undefined` when another function does the work. */
export type Keyword<Value = unknown> = (
  keywordValue: unknown,
  at: string,
  context: KeywordContext,
) => Check<Value> | undefined;

export type Keywords<Value = unknown> = Readonly<Record<string, Keyword<Value>>>;

/** The check of the schema `true`. Loops compare with it to skip work. */
export const acceptAll: Check = () => true;

/** For keywords that are compiled together with others. */
export const compiledElsewhere: Keyword = () => undefined;
