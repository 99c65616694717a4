/**
 * What a keyword's compiler gets and gives.
 *
 * @module
 */
import type { Check } from "./run.ts";

/** The schema that a keyword stands in, while it is compiled: its keywords, as 2020-12 names them. */
export interface Surroundings {
  readonly schema: Readonly<Record<string, unknown>>;
  /** Compiles a schema inside this one. */
  readonly compile: (schema: unknown, at: string) => Check;
}

/** Compiles what stands behind a keyword; to nothing when another keyword does the work. */
export type Keyword<Value = unknown> = (
  operand: unknown,
  at: string,
  around: Surroundings,
) => Check<Value> | undefined;

export type Keywords<Value = unknown> = Readonly<Record<string, Keyword<Value>>>;

/** The check of the schema `true`: known by identity, where it spares a loop. */
export const pass: Check = () => true;

/** For keywords that are known and compiled together with others. */
export const elsewhere: Keyword = () => undefined;
