/**
 * JSON values as JSON Schema sees them (https://json-schema.org/draft/2020-12/json-schema-core#section-4.2): their types,
 * lengths and multiples.
 *
 * @module
 */

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}

/** The types of values. A kind is an index into this array. */
export const TYPES: readonly unknown[] = [
  "string",
  "number",
  "integer",
  "array",
  "object",
  "boolean",
  "null",
];
export const STRING = 0, NUMBER = 1, INTEGER = 2, ARRAY = 3, OBJECT = 4;
/** All kinds: those of the types, and 7 for values that are not JSON. */
export const KINDS: readonly number[] = [0, 1, 2, 3, 4, 5, 6, 7];

/** The kind of a value. A number without a fraction is an integer, also `1.0`. */
export function kindOf(value: unknown): number {
  switch (typeof value) {
    case "string":
      return STRING;
    case "number":
      return Number.isInteger(value) ? INTEGER : NUMBER;
    case "object":
      return value === null ? 6 : Array.isArray(value) ? ARRAY : OBJECT;
    case "boolean":
      return 5;
    default:
      return 7;
  }
}

/** The length of a string in code points, as JSON Schema counts it (RFC 8259 section 7). */
export function countCodePoints(value: string): number {
  let count = value.length;
  for (let at = 0; at < value.length - 1; at++) {
    const isPair = (value.charCodeAt(at) & 0xfc00) === 0xd800 &&
      (value.charCodeAt(at + 1) & 0xfc00) === 0xdc00;
    if (!isPair) continue;
    count--;
    at++;
  }
  return count;
}

/** Whether a number is a multiple of another in decimal notation: 0.07 is a multiple of 0.01. */
export function isMultiple(value: number, of: number): boolean {
  if (Number.isSafeInteger(value) && Number.isSafeInteger(of)) return value % of === 0;
  // JSON.parse makes Infinity of 1e999.
  if (!Number.isFinite(value)) return false;
  const [digits, power] = decimal(value);
  const [ofDigits, ofPower] = decimal(of);
  const least = Math.min(power, ofPower);
  return digits * 10n ** BigInt(power - least) % (ofDigits * 10n ** BigInt(ofPower - least)) === 0n;
}

/** The digits of a finite number, and the power of ten of the last one. */
function decimal(value: number): [digits: bigint, power: number] {
  const [digits = "", power] = Math.abs(value).toExponential().split("e");
  const [whole = "", fraction = ""] = digits.split(".");
  return [BigInt(whole + fraction), Number(power) - fraction.length];
}
