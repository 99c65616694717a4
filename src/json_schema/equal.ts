/**
 * Equality of JSON values (https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.2): by content, whatever
 * the order of members. As a set, so that `uniqueItems` costs as much as there are items, and not their square.
 *
 * @module
 */
import type { Run } from "./run.ts";

/** Steps for each list, object and member that is written as text. */
const PART = 40;

export class ValueSet {
  readonly #scalars = new Set();
  /** Kept apart from strings, which may look alike. */
  readonly #texts = new Set<string>();

  /** Says whether the value was not there. */
  add(value: unknown, run: Run): boolean {
    const isScalar = typeof value !== "object";
    const set: Set<unknown> = isScalar ? this.#scalars : this.#texts;
    const { size } = set;
    return set.add(isScalar ? value : textOf(value, run)).size > size;
  }

  has(value: unknown, run: Run): boolean {
    return this.#scalars.has(value) ||
      this.#texts.size > 0 && typeof value === "object" && this.#texts.has(textOf(value, run));
  }
}

/** The same text for equal values and no others: members in the order of their names. Any when the run is stopped. */
function textOf(value: unknown, run: Run): string {
  if (typeof value === "string") return JSON.stringify(value);
  // Not JSON.stringify: JSON.parse makes Infinity of 1e999.
  if (typeof value !== "object" || value === null) return String(value);
  if (!run.enter()) return "";
  const members = Object.entries(value).map(([name, member]) =>
    `${JSON.stringify(name)}:${textOf(member, run)}`
  );
  run.depth--;
  run.spend(PART * (1 + members.length));
  return Array.isArray(value) ? `[${members}]` : `{${members.sort()}}`;
}
