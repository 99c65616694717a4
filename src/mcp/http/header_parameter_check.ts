/**
 * Checks the header fields that repeat arguments of a tool. Loads with the first call of a tool that has such parameters.
 *
 * @module
 */
import { headerMismatch } from "../error.ts";
import type { HeaderParameter } from "./header_parameters.ts";
import { decodeHeaderValue } from "./header_value.ts";

const DECIMAL = /^-?\d+(?:\.0*)?$/;

/** Checks that the header fields match the arguments. @throws {RpcError} -32020 */
export function checkHeaderParameters(
  parameters: readonly HeaderParameter[],
  headers: Headers,
  given: unknown,
): void {
  for (const { field, path, type } of parameters) {
    const value = valueAt(given, path);
    const header = headers.get(field);
    if (value === undefined || value === null) {
      if (header !== null) {
        throw headerMismatch(`${field} is present, but the argument ${path.join(".")} is missing`);
      }
      continue;
    }
    if (header === null) {
      throw headerMismatch(`${field} is missing. It must equal the argument ${path.join(".")}`);
    }
    const decoded = decodeHeaderValue(header);
    if (decoded === undefined) throw headerMismatch(`${field} has an invalid encoding`);
    // 42 and 42.0 are the same number. Objects and lists cannot match a field.
    const same = type === "integer" && typeof value === "number"
      ? DECIMAL.test(decoded) && Number(decoded) === value
      : typeof value !== "object" && decoded === String(value);
    if (!same) throw headerMismatch(`${field} does not match the argument ${path.join(".")}`);
  }
}

function valueAt(value: unknown, path: readonly string[]): unknown {
  for (const key of path) {
    if (typeof value !== "object" || value === null || !Object.hasOwn(value, key)) return undefined;
    value = (value as Readonly<Record<string, unknown>>)[key];
  }
  return value;
}
