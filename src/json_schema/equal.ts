/**
 * Equality of JSON values (https://json-schema.org/draft/2020-12/json-schema-core#section-4.2.2): by content, in any order
 * of members. It is implemented as a set, so that the work of `uniqueItems` is linear in the number of items.
 *
 * @module
 */
import type { Run } from "./run.ts";

/** Steps for each array, object and member that is written as text. */
const STEPS_PER_MEMBER = 40;

export class ValueSet {
  readonly #scalars = new Set();
  /** Separate from strings, which may have the same text. */
  readonly #texts = new Set<string>();

  /** Adds the value. Returns whether it is new. */
  add(value: unknown, run: Run): boolean {
    const isScalar = typeof value !== "object";
    const set: Set<unknown> = isScalar ? this.#scalars : this.#texts;
    const { size } = set;
    return set.add(isScalar ? value : toCanonicalText(value, run)).size > size;
  }

  has(value: unknown, run: Run): boolean {
    return this.#scalars.has(value) ||
      this.#texts.size > 0 && typeof value === "object" && this.#texts.has(toCanonicalText(value, run));
  }
}

/** Equal values, and only those, have the same text: members are ordered by name. After an abort the text has no meaning. */
function toCanonicalText(value: unknown, run: Run): string {
  if (typeof value === "string") return JSON.stringify(value);
  // JSON.stringify would write the Infinity of 1e999 as null.
  if (typeof value !== "object" || value === null) return String(value);
  if (!run.enter()) return "";
  const members = Object.entries(value).map(([name, member]) =>
    `${JSON.stringify(name)}:${toCanonicalText(member, run)}`
  );
  run.depth--;
  run.takeSteps(STEPS_PER_MEMBER * (1 + members.length));
  return Array.isArray(value) ? `[${members}]` : `{${members.sort()}}`;
}
