/**
 * Broken rules as lines for people: the place, the message, the code of the rule, and how to correct it.
 *
 * @module
 */
import type { Problem } from "../../../skills/package/problem.ts";
import type { ReportedProblem } from "../../../skills/package/validation_report.ts";
import { printableText } from "../printable_text.ts";

export function describeProblems(problems: readonly ReportedProblem[], indent: string = "  "): string[] {
  return problems.flatMap(({ code, file, line, message, hint }) => {
    const place = file === null ? "" : `${printableText(file)}${line === null ? "" : ` line ${line}`}: `;
    const first = `${indent}${place}${printableText(message)} [${printableText(code)}]`;
    return hint === null ? [first] : [first, `${indent}  ${printableText(hint)}`];
  });
}

/** A broken rule as the API reports it. */
export function toReported({ rule, file, line, message, hint }: Problem): ReportedProblem {
  return { code: rule, file: file || null, line: line ?? null, message, hint: hint ?? null };
}

export function countProblems(problems: readonly unknown[]): string {
  return problems.length === 1 ? "1 problem" : `${problems.length} problems`;
}
