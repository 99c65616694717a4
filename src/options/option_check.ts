/**
 * Checks of single options.
 *
 * @module
 */

/** @throws {RangeError} when the value is not a whole number or below `least` */
export function checkWhole(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(describeOption(name, `a whole number of at least ${least}`, value));
  }
  return value;
}

/**
 * The value, or the first of `allowed` for an option that is not set.
 * @throws {TypeError} when `allowed` lacks the value
 */
export function checkOneOf<Value extends string>(
  name: string,
  value: Value | undefined,
  ...allowed: readonly [NoInfer<Value>, ...NoInfer<Value>[]]
): Value {
  if (allowed.includes(value ??= allowed[0])) return value;
  throw new TypeError(describeOption(name, allowed.join(" or "), value));
}

/** The message for an option that breaks the rule: what it must be, and what it is. */
export function describeOption(name: string, rule: string, value: unknown): string {
  return `Cannot create Trivet: "${name}" must be ${rule}, but is ${value}`;
}
