/**
 * Errors for archives that are refused: a message, a code, and a hint where it helps.
 *
 * @module
 */
import { SkillError } from "../error.ts";
import { showPath } from "../package/path.ts";

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

/** The error for too many bytes, packed or unpacked. */
export function refuseSize(limit: number, where: string, cause?: unknown): SkillError {
  const message = `A skill may have at most ${limit} bytes, ${where}`;
  return new SkillError("request_too_large", message, {
    problems: [{ file: "", line: undefined, rule: "upload-too-large", message }],
    cause,
  });
}
