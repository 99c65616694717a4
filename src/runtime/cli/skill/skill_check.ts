/**
 * A dry run of an upload without a server: the report that `POST /v1/skills/validate` gives.
 *
 * @module
 */
import { SkillError } from "../../../skills/error.ts";
import { reportOn, reportRefusal, type ValidationReport } from "../../../skills/package/validation_report.ts";
import type { Progress } from "../progress_bar.ts";
import { MOST_BYTES, readSource, type SkillSource } from "./skill_source.ts";

/** Bytes of a skill, as the service has it by default. */
export const UPLOAD_LIMIT: number = 8 * 1024 * 1024;

/** @param limit bytes of a skill; what is larger is read all the same, so that all of its problems are told */
export async function checkSource(
  source: SkillSource,
  limit: number,
  progress: Progress,
): Promise<ValidationReport> {
  try {
    return await reportOn(await readSource(source, MOST_BYTES, progress), limit);
  } catch (error) {
    if (error instanceof SkillError) return reportRefusal(error);
    throw error;
  }
}
