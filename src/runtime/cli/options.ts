/**
 * The options of commands. An option is declared once, as data: its type, its default, its check and its lines in `--help`
 * follow from that declaration.
 *
 * @module
 */
import process from "node:process";
import { parseArgs } from "node:util";
import { suggest } from "./nearest.ts";
import { UsageError } from "./output.ts";

/** A declared option. Without `value` it is a flag; with only `value` it takes any text. */
export interface Option {
  /** What stands for the value in `--help`. */
  readonly value?: string;
  /** What the option is for, in `--help`. Line breaks count as blanks. */
  readonly summary: string;
  /** The value when the option is not given. */
  readonly default?: string | number;
  /** The default in `--help`, where it is not simply `default`. */
  readonly shownDefault?: string;
  /** The environment variable that is read when the option is not given. */
  readonly variable?: string;
  /** Whether the option can be given several times. Then its value is a list. */
  readonly isRepeatable?: boolean;
  /** The words that the value is one of. */
  readonly words?: readonly string[];
  /** The least and the greatest number that the value can be, and their unit. */
  readonly range?: readonly [min: number, max: number];
  readonly unit?: string;
  /** Reads any other value. Returns `undefined` for an invalid text; may throw a `UsageError` of its own. */
  readonly parse?: (text: string) => unknown;
  /** What `parse` accepts: "must be …" in the error message. */
  readonly expected?: string;
  /** Whether a value without `parse` can be empty. Mostly that is an unset variable of a shell, which must not count as one. */
  readonly canBeEmpty?: boolean;
  /** Whether the value may contain a password, so that no message quotes it. */
  readonly isSecret?: boolean;
}

export type Options = Readonly<Record<string, Option>>;
export type Environment = Readonly<Record<string, string | undefined>>;

/** What one text of an option becomes. */
type Parsed<Declared> = Declared extends { parse(text: string): infer Value } ? Exclude<Value, undefined>
  : Declared extends { words: readonly (infer Word)[] } ? Word
  : Declared extends { range: unknown } ? number
  : string;

type ValueOf<Declared> = Declared extends { value: string }
  ? Declared extends { isRepeatable: true } ? readonly Parsed<Declared>[] | undefined
  : Declared extends { default: unknown } ? Parsed<Declared>
  : Parsed<Declared> | undefined
  : boolean;

/** The text, when a check of the services accepts it: for `parse`. */
export function checked(text: string, check: () => unknown): string | undefined {
  try {
    check();
    return text;
  } catch {
    return undefined;
  }
}

/** The values of declared options, by name. */
export type ValuesOf<Declared> = { readonly [Name in keyof Declared]: ValueOf<Declared[Name]> };

/** What a command was called with. */
export interface Arguments<Declared extends Options> {
  readonly values: ValuesOf<Declared>;
  /** The names of the options that were given. */
  readonly given: ReadonlySet<string>;
  /** The arguments that are not options. */
  readonly operands: readonly string[];
}

/**
 * Reads options and operands.
 * @throws {UsageError} for an unknown option, a missing or invalid value, or more than `maxOperands` operands
 */
export function readArguments<Declared extends Options>(
  argv: readonly string[],
  options: Declared,
  maxOperands: number = 0,
  env: Environment = process.env,
): Arguments<Declared> {
  const { texts, operands } = parseWords(argv, options);
  if (operands.length > maxOperands) throw new UsageError(`unexpected argument "${operands[maxOperands]}"`);
  const values = Object.entries(options).map(([name, option]) => {
    const given = texts.get(name);
    if (option.value === undefined) return [name, given !== undefined];
    const parse = (text: string): unknown => parseText(text, option, `--${name}`);
    if (option.isRepeatable) return [name, given?.map(parse)];
    // The last one counts, as everywhere on a command line.
    if (given) return [name, parse(given.at(-1)!)];
    const { variable } = option;
    const text = variable === undefined ? undefined : env[variable];
    return [name, text === undefined ? option.default : parseText(text, option, variable!)];
  });
  return { values: Object.fromEntries(values), given: new Set(texts.keys()), operands };
}

/**
 * A random identifier (base64url) that begins with "-", as one in 64 does. No option is spelled like it: options have small
 * letters, and none is short.
 */
const DASHED_IDENTIFIER = /^-(?!-[a-zA-Z-]+$)(?=.*[A-Z])[\w-]{15,}$/;
/** Stands before such an identifier, so that `parseArgs` does not read it as options. */
const MARK = "\0";
const mark = (word: string): string => DASHED_IDENTIFIER.test(word) ? MARK + word : word;
const unmark = (text: string): string => text.startsWith(MARK) ? text.slice(MARK.length) : text;

/** The texts of each option that was given, and the operands. */
function parseWords(
  argv: readonly string[],
  options: Options,
): { texts: ReadonlyMap<string, readonly string[]>; operands: readonly string[] } {
  const config = Object.entries(options).map(([name, { value }]) =>
    [name, { type: value === undefined ? "boolean" : "string", multiple: true }] as const
  );
  try {
    const { values, positionals } = parseArgs({
      args: argv.map(mark),
      options: Object.fromEntries(config),
      allowPositionals: true,
      strict: true,
    });
    const texts = Object.entries(values as Record<string, (string | boolean)[]>)
      .map(([name, list]) => [name, list.map((text) => unmark(String(text)))] as const);
    return { texts: new Map(texts), operands: positionals.map(unmark) };
  } catch (error) {
    const message = (error as Error).message.split(". To specify")[0]!;
    const unknown = /^Unknown option '--([^']+)'/.exec(message)?.[1];
    const near = unknown === undefined ? "" : suggest(unknown, Object.keys(options), "--");
    throw new UsageError(message + near, { cause: error });
  }
}

/** The value of a text. @param source the option or the variable, for the error message */
function parseText(text: string, option: Option, source: string): unknown {
  const { words, range, unit, parse, expected, canBeEmpty, isSecret } = option;
  if (text === "" && !(words ?? range ?? parse ?? canBeEmpty)) {
    throw new UsageError(`${source} must not be empty`);
  }
  const value = parse
    ? parse(text)
    : words
    ? words.find((word) => word === text)
    : range
    ? parseNumber(text, range)
    : text;
  if (value !== undefined) return value;
  const rule = expected ?? (words ? `one of ${words.join(", ")}` : describeRange(range!, unit));
  const near = words && !isSecret ? suggest(text, words) : "";
  // A URL that must have no user name and password may have them.
  const shown = text.replace(/\/\/.*@/s, "//…@");
  throw new UsageError(`${source} must be ${rule}${isSecret ? "" : `, but is "${shown}"`}${near}`);
}

function parseNumber(text: string, [min, max]: readonly [number, number]): number | undefined {
  const number = /^[0-9]{1,9}$/.test(text) ? Number(text) : NaN;
  return number >= min && number <= max ? number : undefined;
}

function describeRange([min, max]: readonly [number, number], unit: string | undefined): string {
  return `a number${unit === undefined ? "" : ` of ${unit}`} from ${min} to ${max}`;
}

const MAX_LINE_CHARACTERS = 100;
/** Where summaries begin. */
const SUMMARY_COLUMN = 24;

/** The lines of `--help` for these options. */
export function describeOptions(options: Options): string {
  return Object.entries(options).flatMap(([name, option]) => {
    const usage = `  --${name}${option.value === undefined ? "" : ` ${option.value}`}`;
    const lines = wrap(describeOption(option), MAX_LINE_CHARACTERS - SUMMARY_COLUMN);
    // A long option stands on a line of its own.
    if (usage.length >= SUMMARY_COLUMN) lines.unshift("");
    return lines.map((line, i) => ((i === 0 ? usage : "").padEnd(SUMMARY_COLUMN) + line).trimEnd());
  }).join("\n");
}

function describeOption({ summary, isRepeatable, default: value, shownDefault, variable }: Option): string {
  const shown = shownDefault ?? value;
  const defaults = [...shown === undefined ? [] : [shown], ...variable === undefined ? [] : [variable]];
  const notes = [
    ...isRepeatable ? ["repeatable"] : [],
    ...defaults.length === 0 ? [] : [`default: ${defaults.join(", or ")}`],
  ];
  return notes.length === 0 ? summary : `${summary} (${notes.join("; ")})`;
}

/** Breaks a text into lines at blanks. */
function wrap(text: string, width: number): string[] {
  const [first, ...words] = text.split(/\s+/);
  const lines = [first!];
  for (const word of words) {
    const last = lines.at(-1)!;
    if (last.length + 1 + word.length > width) lines.push(word);
    else lines[lines.length - 1] = `${last} ${word}`;
  }
  return lines;
}
