/**
 * Errors for archives that are refused: a message, a code, and a hint where it helps.
 *
 * @module
 */
import { SkillError } from "../error.ts";
import { showPath } from "../package/path.ts";
import { tooManyBytes } from "../package/problem.ts";

/** The hint for most archives that are refused. */
export const REPACK = "pack the folder again with a standard tool";

/** @param file the path of the entry; "" for the whole archive */
export function refuseArchive(
  rule: `archive-${string}`,
  what: string,
  { file = "", hint, cause }: { file?: string; hint?: string; cause?: unknown } = {},
): SkillError {
  const name = showPath(file);
  const message = `Cannot read the archive: ${name === "" ? "" : `"${name}" `}${what}`;
  return new SkillError("invalid_request_error", hint === undefined ? message : `${message} (${hint})`, {
    problems: [{ file: name, line: undefined, rule, message, hint }],
    cause,
  });
}

/** No archive within the limits needs Zip64. */
export function refuseZip64(file = ""): SkillError {
  const what = `${file === "" ? "it " : ""}uses Zip64, which is not supported`;
  return refuseArchive("archive-zip64", what, { file, hint: REPACK });
}

/** The error for too many bytes, packed or unpacked. */
export function refuseSize(limit: number, scope: string, cause?: unknown): SkillError {
  const problem = tooManyBytes(limit, scope);
  return new SkillError("request_too_large", problem.message, { problems: [problem], cause });
}
