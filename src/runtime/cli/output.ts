/**
 * How commands print: results on standard output, everything else on standard error.
 *
 * @module
 */
import process from "node:process";

/** The command was called wrongly: exit code 2. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** The error for a command whose action is missing or unknown. */
export function unknownAction(action: string | undefined, actions: readonly string[]): UsageError {
  const what = action === undefined ? "missing action" : `unknown action "${action}"`;
  return new UsageError(`${what}. Actions: ${actions.join(", ")}`);
}

export function printLine(text: string): void {
  process.stdout.write(text + "\n");
}

export function printError(text: string): void {
  process.stderr.write(text + "\n");
}

/** Prints rows under headings, in columns as wide as their widest cell. */
export function printTable(headings: readonly string[], rows: readonly (readonly string[])[]): void {
  const widths = headings.map((heading, i) =>
    rows.reduce((widest, row) => Math.max(widest, row[i]!.length), heading.length)
  );
  for (const row of [headings, ...rows]) {
    printLine(row.map((cell, i) => cell.padEnd(widths[i]!)).join("  ").trimEnd());
  }
}
