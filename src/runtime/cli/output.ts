/**
 * How commands print: results on standard output, everything else on standard error.
 *
 * @module
 */
import process from "node:process";
import { printableText } from "./printable_text.ts";

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

export function printLine(text: string): void {
  write(process.stdout, text);
}

export function printError(text: string): void {
  write(process.stderr, text);
}

function write(stream: NodeJS.WriteStream, text: string): void {
  try {
    stream.write(text + "\n");
  } catch (error) {
    if (!isClosed(error)) throw error;
  }
}

/**
 * Lets the process go on when its output is not read any more (`trivet user list | true`, a log whose reader ended): what
 * it still prints is lost, but changes and their audit records are completed.
 */
export function surviveClosedOutput(): void {
  process.stdout.on("error", (error) => {
    if (!isClosed(error)) throw error;
  });
  // An error of standard error can be reported nowhere.
  process.stderr.on("error", () => {});
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
