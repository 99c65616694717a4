/**
 * Validates an upload without a server: gives the same report as `POST /v1/skills/validate`.
 *
 * @module
 */
import { SkillError } from "../../../skills/error.ts";
import { reportOn, reportRefusal, type ValidationReport } from "../../../skills/package/validation_report.ts";
import type { Progress } from "../progress_bar.ts";
import { MAX_SOURCE_BYTES, readSource, type SkillSource } from "./skill_source.ts";

/** The default limit of the Skills service. */
export const MAX_UPLOAD_BYTES: number = 8 * 1024 * 1024;

/** @param maxBytes of a skill; a larger one is read too, so that all of its problems are reported */
export async function checkSource(
  source: SkillSource,
  maxBytes: number,
  progress: Progress,
): Promise<ValidationReport> {
  try {
    return await reportOn(await readSource(source, MAX_SOURCE_BYTES, progress), maxBytes);
  } catch (error) {
    if (error instanceof SkillError) return reportRefusal(error);
    throw error;
  }
}
