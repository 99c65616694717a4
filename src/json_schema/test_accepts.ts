/**
 * Assertions about schemas in one line.
 *
 * @module
 */
import * as assert from "uvu/assert";
import { compileSchema, type JsonSchema, type Violation } from "./compile.ts";

/** Each good value is valid, each bad value is not. */
export function accepts(schema: JsonSchema, good: readonly unknown[], bad: readonly unknown[]): void {
  const check = compileSchema(schema);
  for (const value of good) assert.equal(check(value), [], `${JSON.stringify(value)} fits`);
  for (const value of bad) assert.ok(check(value).length > 0, `${JSON.stringify(value)} does not fit`);
}

/** The violations of a value, as `path: message`. */
export function problems(schema: JsonSchema, value: unknown): string[] {
  return compileSchema(schema)(value).map(({ path, message }: Violation) => `${path}: ${message}`);
}

/** The schema is refused with this message. */
export function refuses(schema: unknown, message: RegExp): void {
  assert.throws(
    () => compileSchema(schema as JsonSchema),
    (error: unknown) => error instanceof TypeError && message.test(error.message),
    `${JSON.stringify(schema)} is refused with ${message}`,
  );
}

/** A value that is wrapped so many times. */
export function nest(times: number, wrap: (inner: unknown) => unknown): unknown {
  let value: unknown = 1;
  for (let i = 0; i < times; i++) value = wrap(value);
  return value;
}
