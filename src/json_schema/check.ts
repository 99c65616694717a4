/**
 * What a compiled keyword is: a closure that looks at a value and notes what is wrong; and how a schema's operands
 * are read.
 *
 * @module
 */

/** One thing that is wrong: where (a JSON Pointer, RFC 6901, `""` for the whole value) and what it must be. */
export interface Violation {
  readonly path: string;
  readonly message: string;
}

/** Adds what is wrong with the value at `path`; says whether nothing was. `depth` bounds recursion. */
export type Check = (value: unknown, path: string, found: Violation[], depth: number) => boolean;

/** Compiles a subschema found at a pointer of the schema. */
export type Compile = (schema: unknown, pointer: string) => Check;

/** More than these help nobody. */
export const MOST_VIOLATIONS = 20;

/** A check that always fails with this message. */
export function refuse(message: string): Check {
  return (_value, path, found) => {
    if (found.length < MOST_VIOLATIONS) found.push({ path, message });
    return false;
  };
}

/** A check that fails with this message unless the value passes. */
export function expect(message: string, passes: (value: unknown) => boolean): Check {
  const fail = refuse(message);
  return (value, path, found, depth) => passes(value) || fail(value, path, found, depth);
}

/** Whether a check passes, without telling what is wrong. */
export function fits(check: Check, value: unknown, path: string, depth: number): boolean {
  return check(value, path, [], depth);
}

/** A pattern of the schema. @throws {TypeError} when it is none */
export function regularExpression(source: string, at: string): RegExp {
  try {
    return new RegExp(source, "u");
  } catch (cause) {
    throw new TypeError(`Cannot compile schema at "${at}": it must be a regular expression`, { cause });
  }
}

/** A number of the schema. @throws {TypeError} when it is none or too small */
export function count(operand: unknown, at: string, least: number): number {
  if (typeof operand !== "number" || operand < least) throw wrongOperand(at, "a number");
  return operand;
}

export function wrongOperand(at: string, wanted: string): TypeError {
  return new TypeError(`Cannot compile schema: "${at}" must be ${wanted}`);
}

/** A text of the schema. @throws {TypeError} when it is none */
export function text(operand: unknown, at: string): string {
  if (typeof operand !== "string") throw wrongOperand(at, "a string");
  return operand;
}
