/**
 * A broken rule of a package, and how several are told in one message.
 *
 * @module
 */

/** One broken rule: where, which, and what must be instead. */
export interface Problem {
  /** The path in the package; empty for the package as a whole. */
  readonly file: string;
  /** From 1. */
  readonly line: number | undefined;
  /** The code of the rule, such as `description-length`: for programs. */
  readonly rule: string;
  readonly message: string;
  /** How to mend it, where the message does not say it already. */
  readonly hint?: string | undefined;
}

/** Problems as one message, each with its place. */
export function describe(problems: readonly Problem[]): string {
  return problems.map(({ file, line, message, hint }) => {
    const place = file === "" ? "" : `${file}${line === undefined ? "" : ` line ${line}`}: `;
    return place + message + (hint === undefined ? "" : ` (${hint})`);
  }).join("; ");
}
