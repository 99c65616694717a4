/**
 * What a schema lets in and what not, in one line.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { compileSchema, type JsonSchema, type Violation } from "./compile.ts";

/** Each good value fits, no bad one does. */
export function accepts(schema: JsonSchema, good: readonly unknown[], bad: readonly unknown[]): void {
  const check = compileSchema(schema);
  for (const value of good) assert.equal(check(value), [], `${JSON.stringify(value)} fits`);
  for (const value of bad) assert.ok(check(value).length > 0, `${JSON.stringify(value)} does not fit`);
}

/** What is wrong with a value, as `path: message`. */
export function problems(schema: JsonSchema, value: unknown): string[] {
  return compileSchema(schema)(value).map(({ path, message }: Violation) => `${path}: ${message}`);
}

/** The schema cannot be compiled, and this is why. */
export function refuses(schema: unknown, message: RegExp): void {
  assert.throws(
    () => compileSchema(schema as JsonSchema),
    (error: unknown) => error instanceof TypeError && message.test(error.message),
    `${JSON.stringify(schema)} is refused with ${message}`,
  );
}

/** A value inside itself so many times. */
export function nest(times: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < times; i++) value = wrap(value);
  return value;
}
