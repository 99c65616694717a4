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
 * The names of all options in a group with the type of each, which the compiler checks. `"unknown"` is one that other code
 * checks, such as a choice of texts. With `Other` as `"unknown"`, other code checks all but lists of texts, switches and
 * functions, so that its message names the definition.
 */
export type Names<Options, Other extends "own" | "unknown" = "own"> = {
  readonly [Name in keyof Options]-?: unknown extends Options[Name] ? "unknown"
    : TypeName<NonNullable<Options[Name]>, Other>;
};

// In tuples: a union is one type, not some types of which each has a name.
type TypeName<Value, Other> = [Value] extends [readonly string[]] ? "string[]"
  : [Value] extends [readonly ((...given: never) => unknown)[]] ? "function[]"
  : [Value] extends [boolean] ? "boolean"
  : [Value] extends [(...given: never) => unknown] ? "function"
  : Other extends "unknown" ? Other
  : [Value] extends [readonly unknown[]] ? "unknown[]"
  : [Value] extends [number] ? number extends Value ? "number" : "unknown"
  : [Value] extends [string] ? string extends Value ? "string" : "unknown"
  : [Value] extends [object] ? IsPlain<Value> extends true ? "object" : "unknown"
  : "unknown";
/** Whether a value may be neither a list nor a function. */
type IsPlain<Value> = [Extract<Value, readonly unknown[] | ((...given: never) => unknown)>] extends [never]
  ? true
  : false;

/** What a message calls each type. */
const RULES: Readonly<Record<string, string>> = {
  boolean: "true or false",
  string: "a text",
  "string[]": "a list of texts",
  number: "a number",
  function: "a function",
  "function[]": "a list of functions",
  object: "an object and no list",
  "unknown[]": "a list",
};

function isOfType(value: unknown, type: string): boolean {
  const actual: string = typeof value;
  // Of a text each character would be a member.
  if (type.endsWith("[]")) {
    return Array.isArray(value) && value.every((each) => isOfType(each, type.slice(0, -2)));
  }
  // `false` leaves out what is optional. Elsewhere the text "false" would count as true.
  if (type === "object") return value === false || actual === type && !Array.isArray(value);
  return type === "unknown" || actual === type;
}

/**
 * @param what the option that holds the others, or the function that takes them
 * @throws {TypeError} for options that are no object, have a name that is not in `names`, or a value that is not of its type
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
    checkType(full, value, (names as Readonly<Record<string, string>>)[name]!);
  }
}

/** @param type as in {@linkcode Names}; anything else is not checked here */
function checkType(name: string, value: unknown, type: string): void {
  const rule = RULES[type];
  // `null` is an option that is not set, but no list of texts and no function.
  const isSet = value !== undefined && (value !== null || type === "string[]" || type === "function");
  if (!rule || !isSet || isOfType(value, type)) return;
  // Not a text in place of an object, which may be a credential.
  throw invalidOption(name, rule, type === "object" ? typeof value : value);
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
    // Not its value: a text may be a credential.
    throw invalidOption(name, `made by ${maker}`, typeof made);
  }
}

/** The error for an option that breaks the rule: what it must be, and what it is. */
export function invalidOption(name: string, rule: string, value: unknown): TypeError {
  return new TypeError(`Invalid options: "${name}" must be ${rule}, but is "${value}"`);
}
