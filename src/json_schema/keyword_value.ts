/**
 * Reads the values of keywords. An invalid value is an error that names its JSON Pointer and what it must be.
 *
 * @module
 */
import { isObject } from "./value.ts";
import { toJsonText } from "./message_text.ts";

export function invalidKeyword(
  at: string,
  wanted: string,
  keywordValue: unknown,
  cause?: unknown,
): TypeError {
  return new TypeError(
    `Cannot compile schema: "${at}" must be ${wanted}, but is ${toJsonText(keywordValue)}`,
    {
      cause,
    },
  );
}

/** @throws {TypeError} unless it is a number */
export function readNumber(keywordValue: unknown, at: string): number {
  if (typeof keywordValue !== "number" || !Number.isFinite(keywordValue)) {
    throw invalidKeyword(at, "a number", keywordValue);
  }
  return keywordValue;
}

/** @throws {TypeError} unless it is a non-negative integer */
export function readCount(keywordValue: unknown, at: string): number {
  if (!Number.isInteger(keywordValue) || (keywordValue as number) < 0) {
    throw invalidKeyword(at, "a non-negative integer", keywordValue);
  }
  return keywordValue as number;
}

/** @throws {TypeError} unless it is an array of strings */
export function readNames(keywordValue: unknown, at: string): readonly string[] {
  if (!Array.isArray(keywordValue) || !keywordValue.every((name) => typeof name === "string")) {
    throw invalidKeyword(at, "an array of strings", keywordValue);
  }
  return keywordValue;
}

/** @throws {TypeError} unless it is an object */
export function readMembers(keywordValue: unknown, at: string): [name: string, member: unknown][] {
  if (!isObject(keywordValue)) throw invalidKeyword(at, "an object", keywordValue);
  return Object.entries(keywordValue);
}

/** @throws {TypeError} unless it is a non-empty array */
export function readList(keywordValue: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(keywordValue) || keywordValue.length === 0) {
    throw invalidKeyword(at, "a non-empty array", keywordValue);
  }
  return keywordValue;
}
