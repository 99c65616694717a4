/**
 * Checks of single options.
 *
 * @module
 */

/** @throws {RangeError} when the value is not a whole number or below `least` */
export function checkWhole(name: string, value: number, least: number): number {
  if (!Number.isSafeInteger(value) || value < least) {
    throw new RangeError(describeOption(name, `a whole number of at least ${least}`, value));
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
  throw new TypeError(describeOption(name, allowed.join(" or "), value));
}

/**
 * The names of all options of a kind, which the compiler checks: 5 for a function, 4 for any text, 3 for a switch, 2 for a
 * list of texts, 1 for the others. `Text` is 1 where other code checks the texts.
 */
export type Names<Options, Text extends 1 | 4 = 4> = {
  readonly [Name in keyof Options]-?: NonNullable<Options[Name]> extends readonly string[] ? 2
    : NonNullable<Options[Name]> extends boolean ? 3
    : NonNullable<Options[Name]> extends string ? string extends NonNullable<Options[Name]> ? Text : 1
    : NonNullable<Options[Name]> extends (...given: never) => unknown ? 5
    : 1;
};

/**
 * @param what the option that holds the others, or the function that takes them
 * @throws {TypeError} for options that are no object, have a name that is not in `names`, or another value than a list
 * of texts (of a text each character would be a member), true or false, a text, or a function
 */
export function checkNames(what: string, options: unknown, names: object): void {
  if (typeof options !== "object" || options === null) {
    throw new TypeError(describeOption(what, "an object", options));
  }
  for (const [name, value] of Object.entries(options)) {
    const full = what === "options" ? name : `${what}.${name}`;
    if (!Object.hasOwn(names, name)) {
      throw new TypeError(
        `Invalid options: unknown option "${full}". Options: ${Object.keys(names).join(", ")}`,
      );
    }
    const kind = (names as Readonly<Record<string, unknown>>)[name];
    if (kind === 2) checkTexts(full, value);
    // The text "false" would count as true.
    if (kind === 3) checkOneOf<boolean>(full, value ?? undefined, true, false);
    if (kind === 4 && typeof (value ?? "") !== "string") {
      throw new TypeError(describeOption(full, "a text", value));
    }
    if (kind === 5 && value !== undefined && typeof value !== "function") {
      throw new TypeError(describeOption(full, "a function", value));
    }
  }
}

/** @throws {TypeError} for a value that is set and no list of texts */
export function checkTexts(name: string, value: unknown = []): void {
  if (Array.isArray(value) && value.every((each) => typeof each === "string")) return;
  throw new TypeError(describeOption(name, "a list of texts", value));
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
    throw new TypeError(describeOption(name, `made by ${maker}`, made));
  }
}

/** The message for an option that breaks the rule: what it must be, and what it is. */
export function describeOption(name: string, rule: string, value: unknown): string {
  return `Invalid options: "${name}" must be ${rule}, but is "${value}"`;
}
