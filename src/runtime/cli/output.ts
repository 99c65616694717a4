/**
 * How commands speak: results on standard output, everything else on standard error; and how they read options.
 *
 * @module
 */
import process from "node:process";
import { parseArgs, type ParseArgsConfig } from "node:util";

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

type Options = NonNullable<ParseArgsConfig["options"]>;
export type Values = Readonly<Record<string, string | boolean | readonly (string | boolean)[] | undefined>>;

/**
 * Reads options and operands.
 * @throws {UsageError} for an unknown option, a missing value, or more than `most` operands
 */
export function readArguments(
  argv: readonly string[],
  options: Options,
  most: number = 0,
): { values: Values; operands: readonly string[] } {
  try {
    const { values, positionals } = parseArgs({
      args: [...argv],
      options,
      allowPositionals: true,
      strict: true,
    });
    if (positionals.length > most) throw new UsageError(`"${positionals[most]}" is one word too many`);
    return { values: values as Values, operands: positionals };
  } catch (error) {
    if (error instanceof UsageError) throw error;
    throw new UsageError((error as Error).message.split(". To specify")[0]!, { cause: error });
  }
}

/** An option that is text, when it was given. */
export function textOption(values: Values, name: string): string | undefined {
  return values[name] as string | undefined;
}

/** An option that may come several times. */
export function listOption(values: Values, name: string): readonly string[] | undefined {
  return values[name] as readonly string[] | undefined;
}

/** An option that is one of some words. @throws {UsageError} */
export function wordOption<Word extends string>(
  values: Values,
  name: string,
  words: readonly Word[],
): Word | undefined {
  const value = textOption(values, name);
  if (value === undefined || (words as readonly string[]).includes(value)) return value as Word | undefined;
  throw new UsageError(`--${name} must be one of ${words.join(", ")}, but is "${value}"`);
}

export function printLine(text: string): void {
  process.stdout.write(text + "\n");
}

export function printError(text: string): void {
  process.stderr.write(text + "\n");
}

/** Rows under headings, in columns as wide as their widest cell. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, i) =>
    rows.reduce((most, row) => Math.max(most, row[i]!.length), heading.length)
  );
  for (const row of [headings, ...rows]) {
    printLine(row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd());
  }
}
