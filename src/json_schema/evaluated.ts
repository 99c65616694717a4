/**
 * The properties or items of one value that schemas have evaluated: the annotations for `unevaluatedProperties` and
 * `unevaluatedItems` (https://json-schema.org/draft/2020-12/json-schema-core#section-11). Collected only inside a schema
 * with one of these keywords.
 *
 * @module
 */

export class Evaluated {
  /** Whether all are evaluated. */
  all = false;
  /** Items before this index are evaluated. */
  before = 0;
  /** Further evaluated properties by name, or items by index. */
  readonly each: (string | number)[] = [];

  snapshot(): readonly [boolean, number, number] {
    return [this.all, this.before, this.each.length];
  }

  /** Goes back to a snapshot: what a failed schema evaluated does not count. */
  restore([all, before, length]: readonly [boolean, number, number]): void {
    this.all = all;
    this.before = before;
    this.each.length = length;
  }
}
