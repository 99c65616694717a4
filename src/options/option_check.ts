/**
 * Checks of single options.
 *
 * @module
 */

/** @throws {RangeError} when the value is not a whole number or below `least` */
export function checkWhole(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(invalidOption(name, `a whole number of at least ${least}`, value).message);
  }
  return value;
}

/**
 * The value, or the first of `allowed` for an option that is not set.
 * @throws {TypeError} when `allowed` lacks the value
 */
export function checkOneOf<Value extends string | boolean>(
  name: string,
  value: Value | undefined,
  ...allowed: readonly [NoInfer<Value>, ...NoInfer<Value>[]]
): Value {
  if (allowed.includes(value ??= allowed[0])) return value;
  throw invalidOption(name, allowed.join(" or "), value);
}

/**
 * The values, of which there is at least one.
 * @throws {TypeError} when there is none, or `allowed` lacks one
 */
export function checkSome<Value extends string>(
  name: string,
  values: readonly Value[],
  allowed: readonly Value[],
): readonly Value[] {
  if (values.length > 0 && values.every((each) => allowed.includes(each))) return values;
  throw invalidOption(name, `some of ${allowed.join(", ")}`, values);
}

/**
 * The names of all options of a kind with the type of each, which the compiler checks. `"unknown"` is one that other code
 * checks; with `Text` as `"unknown"` that is every text, and every list of something else.
 */
export type Names<Options, Text extends "string" | "unknown" = "string"> = {
  readonly [Name in keyof Options]-?: TypeName<NonNullable<Options[Name]>, Text>;
};

// In tuples: a union is one type, not some types of which each has a name.
type TypeName<Value, Text> = [Value] extends [readonly string[]] ? "string[]"
  : [Value] extends [readonly ((...given: never) => unknown)[]] ? "function[]"
  : [Value] extends [readonly unknown[]] ? Text extends "unknown" ? Text : "unknown[]"
  : [Value] extends [boolean] ? "boolean"
  : [Value] extends [string] ? string extends Value ? Text : "unknown"
  : [Value] extends [(...given: never) => unknown] ? "function"
  : "unknown";

type Test = (value: unknown) => boolean;
const isText: Test = (value) => typeof value === "string";
const isFunction: Test = (value) => typeof value === "function";
const isListOf = (isMember: Test): Test => (value) => Array.isArray(value) && value.every(isMember);

/** What a message calls each type, and which values have it. */
const TYPES: Readonly<Record<string, readonly [rule: string, test: Test]>> = {
  // The text "false" would count as true.
  boolean: ["true or false", (value) => typeof value === "boolean"],
  string: ["a text", isText],
  // Of a text each character would be a member.
  "string[]": ["a list of texts", isListOf(isText)],
  function: ["a function", isFunction],
  "function[]": ["a list of functions", isListOf(isFunction)],
  "unknown[]": ["a list", Array.isArray],
};

/**
 * @param what the option that holds the others, or the function that takes them
 * @throws {TypeError} for options that are no object, have a name that is not in `names`, or a value that is not of its kind
 */
export function checkNames(what: string, options: unknown, names: object): void {
  if (typeof options !== "object" || options === null) {
    throw invalidOption(what, "an object", options);
  }
  for (const [name, value] of Object.entries(options)) {
    const full = what === "options" ? name : `${what}.${name}`;
    if (!Object.hasOwn(names, name)) {
      throw new TypeError(
        `Invalid options: unknown option "${full}". Options: ${Object.keys(names).join(", ")}`,
      );
    }
    checkType(full, value, (names as Readonly<Record<string, unknown>>)[name]);
  }
}

/** @param type as in {@linkcode Names}; anything else is not checked here */
function checkType(name: string, value: unknown, type: unknown): void {
  const [rule, test] = TYPES[type as string] ?? [];
  // `null` is an option that is not set, but no list of texts and no function.
  const isSet = value !== undefined && (value !== null || type === "string[]" || type === "function");
  if (isSet && test?.(value) === false) throw invalidOption(name, rule!, value);
}

/** @throws {TypeError} for a value that is set and no list of texts */
export function checkTexts(name: string, value: unknown): void {
  checkType(name, value, "string[]");
}

/**
 * Checks an option that a function makes; one that is not set passes.
 * @param method a method that a value of the function has
 * @param maker the function and its module
 * @throws {TypeError} for settings that were not passed to the function
 */
export function checkMade<Made extends object>(
  name: string,
  made: Made | false | undefined,
  method: keyof Made,
  maker: string,
): void {
  if (made && typeof made[method] !== "function") {
    throw invalidOption(name, `made by ${maker}`, made);
  }
}

/** The error for an option that breaks the rule: what it must be, and what it is. */
export function invalidOption(name: string, rule: string, value: unknown): TypeError {
  return new TypeError(`Invalid options: "${name}" must be ${rule}, but is "${value}"`);
}
