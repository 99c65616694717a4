/**
 * A broken rule of a package, and how a list of them becomes one message.
 *
 * @module
 */

/** One broken rule: where, which one, and what is wrong. */
export interface Problem {
  /** The path in the package; empty for the package as a whole. */
  readonly file: string;
  /** From 1. */
  readonly line: number | undefined;
  /** The code of the rule, such as `description-length`: for programs. */
  readonly rule: string;
  readonly message: string;
  /** How to fix it, if the message does not say so. */
  readonly hint?: string | undefined;
}

/** Problems in one message, and in one list. */
const MAX_PROBLEMS_IN_MESSAGE = 20;
const MAX_PROBLEMS = 100;
/** Characters of one message, and of all texts of a list. The first problem is always included. */
const MAX_MESSAGE_CHARACTERS = 8 * 1024;
const MAX_LIST_CHARACTERS = 48 * 1024;
const MORE = "more-problems";

/** The problem of a skill with too many bytes. @param scope which bytes count, such as "unpacked" */
export function tooManyBytes(limit: number, scope: string): Problem {
  const message = `A skill may have at most ${limit} bytes, ${scope}`;
  return { file: "", line: undefined, rule: "upload-too-large", message };
}

/** Problems as one message, each with its place; the end says how many were omitted. */
export function describe(problems: readonly Problem[]): string {
  const texts = problems.slice(0, MAX_PROBLEMS_IN_MESSAGE).map(({ file, line, message, hint }) => {
    const place = file === "" ? "" : `${file}${line === undefined ? "" : ` line ${line}`}: `;
    return place + message + (hint === undefined ? "" : ` (${hint})`);
  });
  const kept = texts.slice(0, countWithin(texts.map(({ length }) => length), MAX_MESSAGE_CHARACTERS));
  const more = problems.length - kept.length;
  return kept.join("; ") + (more > 0 ? `; and ${more} more` : "");
}

/** A list cut to the size of a response; the last item says how many problems were omitted. */
export function capProblems(problems: readonly Problem[]): readonly Problem[] {
  if (problems.at(-1)?.rule === MORE) return problems;
  const sizes = problems.slice(0, MAX_PROBLEMS).map(({ file, message, hint = "" }) =>
    file.length + message.length + hint.length
  );
  const kept = countWithin(sizes, MAX_LIST_CHARACTERS);
  const more = problems.length - kept;
  if (more === 0) return problems;
  const last = { file: "", line: undefined, rule: MORE, message: `${more} more problems` };
  return [...problems.slice(0, kept), last];
}

/** How many of the sizes are at most `most` together; the first in any case. */
function countWithin(sizes: readonly number[], most: number): number {
  let sum = 0;
  const end = sizes.findIndex((size) => (sum += size) > most);
  return end < 0 ? sizes.length : Math.max(1, end);
}
