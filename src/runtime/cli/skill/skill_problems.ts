/**
 * Broken rules as lines for people: where, what must be instead, the code of the rule, and how to mend it.
 *
 * @module
 */
import type { Problem } from "../../../skills/package/problem.ts";
import type { ReportedProblem } from "../../../skills/package/validation_report.ts";
import { plainText } from "../plain_text.ts";

export function problemLines(problems: readonly ReportedProblem[], indent: string = "  "): string[] {
  return problems.flatMap(({ code, file, line, message, hint }) => {
    const place = file === null ? "" : `${plainText(file)}${line === null ? "" : ` line ${line}`}: `;
    const first = `${indent}${place}${plainText(message)} [${plainText(code)}]`;
    return hint === null ? [first] : [first, `${indent}  ${plainText(hint)}`];
  });
}

/** A broken rule as the API tells it. */
export function toReported({ rule, file, line, message, hint }: Problem): ReportedProblem {
  return { code: rule, file: file || null, line: line ?? null, message, hint: hint ?? null };
}

export function countRules(problems: readonly unknown[]): string {
  return problems.length === 1 ? "1 rule is broken" : `${problems.length} rules are broken`;
}
