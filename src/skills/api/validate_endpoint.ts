/**
 * `POST /v1/skills/validate`: what an upload would be told, in full, and nothing is stored. Beyond what hosted services
 * have.
 *
 * @module
 */
import { callerOf, type Endpoint, type SkillsContext } from "./call.ts";
import { SkillError } from "../error.ts";
import { reportOn, reportRefusal, type ValidationReport } from "../package/validation_report.ts";

/** Answers 200 also for a package that would be refused: its report says so. */
export function validateEndpoint({ readUpload, uploadLimit, packageRules }: SkillsContext): Endpoint {
  return async (call) => {
    const { request, dialect } = call;
    let report: ValidationReport;
    try {
      report = await readUpload(
        request,
        callerOf(call),
        ({ files }) => reportOn(files, uploadLimit, { ...packageRules, ...dialect.rules }),
      );
    } catch (error) {
      // An archive that cannot be read is what was asked about; a body that is none, or no room for it, is not.
      if (!(error instanceof SkillError) || error.problems.length === 0) throw error;
      report = reportRefusal(error);
    }
    return JSON.stringify(report);
  };
}
