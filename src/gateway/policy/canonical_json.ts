/**
 * JSON with the members of objects in the order of their names, so that equal values have equal text, and its digest.
 *
 * @module
 */
import { secretDigest } from "../../crypto/secret.ts";

const MAX_DEPTH = 200;
/** Values and members: more would hold the event loop. */
export const MAX_NODES = 20_000;
const MAX_CHARACTERS = 512 * 1024;

/** What is left of the limits. */
interface Left {
  nodes: number;
  characters: number;
}

/**
 * The text of a JSON value. Members without a value are left out, as JSON does. Names are ordered by code unit (RFC 8785).
 * @throws {RangeError} for a value with more than 20,000 values, 524,288 characters or 200 levels
 * @throws {TypeError} for a value that JSON does not have, such as a Map: two of them would have one text
 */
export function toCanonicalJson(value: unknown): string {
  return write(value, 0, { nodes: MAX_NODES, characters: MAX_CHARACTERS });
}

function write(value: unknown, depth: number, left: Left): string {
  if (depth > MAX_DEPTH || --left.nodes < 0) throw tooLarge();
  if (typeof value !== "object" || value === null) {
    if (typeof value === "function" || typeof value === "symbol") throw notJson();
    if (typeof value === "string") take(value.length, left);
    return JSON.stringify(value) ?? "null";
  }
  if (typeof (value as { toJSON?: unknown }).toJSON === "function") {
    return write(JSON.parse(JSON.stringify(value) ?? "null"), depth + 1, left);
  }
  if (Array.isArray(value)) {
    if (value.length > left.nodes) throw tooLarge();
    return `[${value.map((each) => write(each, depth + 1, left)).join(",")}]`;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== null && prototype !== Object.prototype) throw notJson();
  const names = Object.keys(value);
  if (names.length > left.nodes) throw tooLarge();
  let text = "";
  for (const name of names.sort()) {
    const member = (value as Record<string, unknown>)[name];
    if (member === undefined) continue;
    take(name.length, left);
    text += `${text && ","}${JSON.stringify(name)}:${write(member, depth + 1, left)}`;
  }
  return `{${text}}`;
}

function take(characters: number, left: Left): void {
  left.characters -= characters;
  if (left.characters < 0) throw tooLarge();
}

function tooLarge(): RangeError {
  return new RangeError("The value is too large");
}

function notJson(): TypeError {
  return new TypeError("The value is not one of JSON");
}

/** SHA-256 of the canonical JSON, in base64url. @throws as {@linkcode toCanonicalJson} */
export function digestJson(value: unknown): string {
  return secretDigest(toCanonicalJson(value));
}
