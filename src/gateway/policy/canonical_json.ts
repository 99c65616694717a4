/**
 * JSON with the members of objects in the order of their names, so that equal values have equal text, and its digest.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";

const MAX_DEPTH = 200;

/**
 * The text of a JSON value. Members without a value are left out, as JSON does. Names are ordered by code unit (RFC 8785).
 * @throws {RangeError} for a value that is nested deeper than 200
 * @throws {TypeError} for a value that JSON does not have, such as a Map: two of them would have one text
 */
export function toCanonicalJson(value: unknown, depth = 0): string {
  if (depth > MAX_DEPTH) throw new RangeError(`The value is nested deeper than ${MAX_DEPTH}`);
  if (typeof value !== "object" || value === null) {
    if (typeof value === "function" || typeof value === "symbol") throw notJson();
    return JSON.stringify(value) ?? "null";
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
    return toCanonicalJson(JSON.parse(JSON.stringify(value) ?? "null"), depth + 1);
  }
  if (Array.isArray(value)) return `[${value.map((each) => toCanonicalJson(each, depth + 1)).join(",")}]`;
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw notJson();
  let text = "";
  for (const name of Object.keys(value).sort()) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    text += `${text && ","}${JSON.stringify(name)}:${toCanonicalJson(member, depth + 1)}`;
  }
  return `{${text}}`;
}

function notJson(): TypeError {
  return new TypeError("The value is not one of JSON");
}

/** SHA-256 of the canonical JSON, in base64url. */
export function digestJson(value: unknown): string {
  return secretDigest(toCanonicalJson(value));
}
