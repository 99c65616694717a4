/**
 * Which members or items of one value schemas have looked at: the annotations that `unevaluatedProperties` and
 * `unevaluatedItems` are about (https://json-schema.org/draft/2020-12/json-schema-core#section-11). Kept only below a
 * schema that has one of these keywords.
 *
 * @module
 */

export class Seen {
  /** All of them. */
  all = false;
  /** Items before this index. */
  before = 0;
  /** Single members by name, or items by index. */
  readonly each: (string | number)[] = [];

  mark(): readonly [boolean, number, number] {
    return [this.all, this.before, this.each.length];
  }

  /** What a schema that did not fit has seen does not count. */
  forget([all, before, length]: readonly [boolean, number, number]): void {
    this.all = all;
    this.before = before;
    this.each.length = length;
  }
}
