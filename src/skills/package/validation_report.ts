/**
 * The response of a dry run, `POST /v1/skills/validate`: all errors and warnings of an upload as JSON. Nothing is stored.
 *
 * @module
 */
import type { SkillError } from "../error.ts";
import { checkPackage, type PackageRules } from "./package.ts";
import { capProblems, type Problem } from "./problem.ts";
import type { SentFile } from "./sent_file.ts";
import type { SkillTokens } from "./tokens.ts";

export interface ReportedProblem {
  /** The rule, see `RULES.md`. */
  readonly code: string;
  /** The path in the package; null for the package as a whole. */
  readonly file: string | null;
  readonly line: number | null;
  readonly message: string;
  readonly hint: string | null;
}

/** The JSON object; what cannot be read is null. */
export interface ValidationReport {
  readonly type: "skill_validation";
  /** Whether an upload would be accepted. */
  readonly valid: boolean;
  readonly name: string | null;
  readonly description: string | null;
  /** How many files the skill would have. */
  readonly files: number;
  readonly size_bytes: number;
  readonly tokens: SkillTokens | null;
  readonly errors: readonly ReportedProblem[];
  readonly warnings: readonly ReportedProblem[];
}

/**
 * A report on the files of an upload.
 * @param limit bytes of all files together
 */
export async function reportOn(
  sent: readonly SentFile[],
  limit: number,
  rules: PackageRules = {},
): Promise<ValidationReport> {
  const { problems, warnings, name, description, tokens, files } = await checkPackage(sent, limit, rules);
  return {
    type: "skill_validation",
    valid: problems.length === 0,
    name: name || null,
    description: description || null,
    files: files.length,
    size_bytes: files.reduce((sum, { bytes }) => sum + bytes.length, 0),
    tokens: tokens ?? null,
    errors: capProblems(problems).map(toReported),
    warnings: capProblems(warnings).map(toReported),
  };
}

/** A report on an upload whose files could not be read, such as a damaged archive. */
export function reportRefusal({ type, message, problems }: SkillError): ValidationReport {
  const found = problems.length > 0 ? problems : [{ file: "", line: undefined, rule: type, message }];
  return {
    type: "skill_validation",
    valid: false,
    name: null,
    description: null,
    files: 0,
    size_bytes: 0,
    tokens: null,
    errors: found.map(toReported),
    warnings: [],
  };
}

function toReported({ rule, file, line, message, hint }: Problem): ReportedProblem {
  return { code: rule, file: file || null, line: line ?? null, message, hint: hint ?? null };
}
