/**
 * How what stands behind a keyword is read. Whoever wrote a schema is told at once, where and what it must be.
 *
 * @module
 */
import { isObject } from "./value.ts";
import { asWritten } from "./words.ts";

export function operandError(at: string, wanted: string, operand: unknown, cause?: unknown): TypeError {
  return new TypeError(`Cannot compile schema: "${at}" must be ${wanted}, but is ${asWritten(operand)}`, {
    cause,
  });
}

/** @throws {TypeError} when it is no number */
export function numberOf(operand: unknown, at: string): number {
  if (typeof operand !== "number" || !Number.isFinite(operand)) throw operandError(at, "a number", operand);
  return operand;
}

/** @throws {TypeError} when it is no whole number from 0 */
export function countOf(operand: unknown, at: string): number {
  if (!Number.isInteger(operand) || (operand as number) < 0) {
    throw operandError(at, "a non-negative integer", operand);
  }
  return operand as number;
}

/** @throws {TypeError} when it is no list of names */
export function namesOf(operand: unknown, at: string): readonly string[] {
  if (!Array.isArray(operand) || !operand.every((name) => typeof name === "string")) {
    throw operandError(at, "an array of strings", operand);
  }
  return operand;
}

/** @throws {TypeError} when it is no object */
export function membersOf(operand: unknown, at: string): [name: string, member: unknown][] {
  if (!isObject(operand)) throw operandError(at, "an object", operand);
  return Object.entries(operand);
}

/** @throws {TypeError} when it is no list with an item */
export function listOf(operand: unknown, at: string): readonly unknown[] {
  if (!Array.isArray(operand) || operand.length === 0) throw operandError(at, "a non-empty array", operand);
  return operand;
}
