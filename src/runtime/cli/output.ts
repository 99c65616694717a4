/**
 * How commands print: results on standard output, everything else on standard error.
 *
 * @module
 */
import process from "node:process";
import { describeFileError } from "./file_error.ts";
import { printableJson, printableLines, printableText } from "./printable_text.ts";

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function printLine(text: string): void {
  try {
    process.stdout.write(text + "\n");
  } catch (error) {
    // On Deno it is thrown.
    endUnlessClosed(error);
  }
}

/** Prints one line with text that a user or a server may have chosen: characters that act on a terminal are escaped. */
export function printText(text: string): void {
  printLine(printableLines(text).replaceAll("\n", " "));
}

/** Prints a value as JSON in which characters that act on a terminal are escaped: it may have text of others. */
export function printJson(value: unknown, indent?: number): void {
  printLine(printableJson(value, indent));
}

export function printError(text: string): void {
  try {
    process.stderr.write(text + "\n");
  } catch {
    // It can be reported nowhere.
  }
}

/**
 * Lets the process go on when its output is not read any more (`trivet user list | true`, a log whose reader ended): what
 * it still prints is lost, but changes and their audit records are completed.
 */
export function surviveClosedOutput(): void {
  process.stdout.on("error", endUnlessClosed);
  process.stderr.on("error", () => {});
}

/** Another error, such as a full disk, ends the process with 1: what was printed is not all. */
function endUnlessClosed(error: unknown): void {
  if (isClosed(error)) return;
  printError(`trivet: cannot write to standard output: ${describeFileError(error)}`);
  process.exit(1);
}

function isClosed(error: unknown): boolean {
  return /^(EPIPE|ERR_STREAM_DESTROYED)$/.test(String((error as { code?: unknown }).code));
}

/** A point in time, in UTC to the second; "-" for none. @param time ISO 8601, or milliseconds since the epoch */
export function formatTime(time: string | number | null | undefined): string {
  const ms = time === null || time === undefined ? NaN : new Date(time).getTime();
  return Number.isNaN(ms) ? "-" : new Date(ms).toISOString().replace("T", " ").replace(/\.\d+Z$/, "Z");
}

/** Prints names and values, one pair a line. Pairs without a value are left out. */
export function printPairs(
  pairs: readonly (readonly [name: string, value: string | null | undefined])[],
): void {
  const shown = pairs.filter(([, value]) => value);
  const width = Math.max(0, ...shown.map(([name]) => name.length)) + 2;
  for (const [name, value] of shown) printLine(name.padEnd(width) + printableText(value!));
}

/** Prints rows under headings, in columns as wide as their widest cell. Texts are made safe for a terminal. */
export function printTable(headings: readonly string[], cells: readonly (readonly string[])[]): void {
  const rows = cells.map((row) => row.map((cell) => printableText(cell)));
  const widths = headings.map((heading, i) =>
    rows.reduce((widest, row) => Math.max(widest, row[i]!.length), heading.length)
  );
  for (const row of [headings, ...rows]) {
    printLine(row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd());
  }
}
