/**
 * A broken rule of a package, and how several are told in one message.
 *
 * @module
 */

/** One broken rule: where, which, and what must be instead. */
export interface Problem {
  readonly file: string;
  readonly line: number | undefined;
  readonly rule: string;
  readonly message: string;
}

/** Problems as one message, each with its place. */
export function describe(problems: readonly Problem[]): string {
  return problems.map(({ file, line, message }) =>
    `${file}${line === undefined ? "" : ` line ${line}`}: ${message}`
  ).join("; ");
}
