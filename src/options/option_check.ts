/**
 * Checks of single options.
 *
 * @module
 */

/** @throws {RangeError} when the value is not a whole number or below `least` */
export function checkWhole(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(
      `Cannot create Trivet: "${name}" must be a whole number of at least ${least}, but is ${value}`,
    );
  }
  return value;
}
