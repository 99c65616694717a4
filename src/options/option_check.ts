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
 * The values, of which there is at least one.
 * @throws {TypeError} when there is none, or `allowed` lacks one
 */
export function checkSome<Value extends string>(
  name: string,
  values: readonly Value[],
  allowed: readonly Value[],
): readonly Value[] {
  if (values.length > 0 && values.every((each) => allowed.includes(each))) return values;
  throw new TypeError(describeOption(name, `some of ${allowed.join(", ")}`, values));
}

/**
 * The names of all options of a kind, which the compiler checks: 7 for a list of functions, 6 for a list of something else,
 * 5 for a function, 4 for any text, 3 for a switch, 2 for a list of texts, 1 for the others. `Text` is 1 where other code
 * checks the texts, and the lists of something else.
 */
export type Names<Options, Text extends 1 | 4 = 4> = {
  readonly [Name in keyof Options]-?: NonNullable<Options[Name]> extends readonly string[] ? 2
    : NonNullable<Options[Name]> extends readonly ((...given: never) => unknown)[] ? 7
    : NonNullable<Options[Name]> extends readonly unknown[] ? Text extends 1 ? 1 : 6
    : NonNullable<Options[Name]> extends boolean ? 3
    : NonNullable<Options[Name]> extends string ? string extends NonNullable<Options[Name]> ? Text : 1
    : NonNullable<Options[Name]> extends (...given: never) => unknown ? 5
    : 1;
};

const isText = (value: unknown): boolean => typeof value === "string";
const isFunction = (value: unknown): boolean => typeof value === "function";
const isList = (isMember: (value: unknown) => boolean) => (value: unknown): boolean =>
  Array.isArray(value) && value.every(isMember);

/** What a value of each kind must be. */
const KINDS: Readonly<Record<string, readonly [rule: string, test: (value: unknown) => boolean]>> = {
  // Of a text each character would be a member.
  2: ["a list of texts", isList(isText)],
  // The text "false" would count as true.
  3: ["true or false", (value) => typeof value === "boolean"],
  4: ["a text", isText],
  5: ["a function", isFunction],
  6: ["a list", Array.isArray],
  7: ["a list of functions", isList(isFunction)],
};

/**
 * @param what the option that holds the others, or the function that takes them
 * @throws {TypeError} for options that are no object, have a name that is not in `names`, or a value that is not of its kind
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
    checkKind(full, value, (names as Readonly<Record<string, number>>)[name]!);
  }
}

function checkKind(name: string, value: unknown, kind: number): void {
  const [rule, test] = KINDS[kind] ?? [];
  // `null` is an option that is not set, but no list of texts and no function.
  const isSet = value !== undefined && (value !== null || kind === 2 || kind === 5);
  if (isSet && test?.(value) === false) throw new TypeError(describeOption(name, rule!, value));
}

/** @throws {TypeError} for a value that is set and no list of texts */
export function checkTexts(name: string, value: unknown): void {
  checkKind(name, value, 2);
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
