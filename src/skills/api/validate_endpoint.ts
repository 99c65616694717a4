/**
 * `POST /v1/skills/validate`: the full report on an upload, without storing anything. Hosted services have no such
 * endpoint.
 *
 * @module
 */
import { callerOf, type Endpoint, type SkillsContext } from "./call.ts";
import { SkillError } from "../error.ts";
import { reportOn, reportRefusal, type ValidationReport } from "../package/validation_report.ts";

/** Responds with 200 also for an invalid package: the report says so. */
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
      // An unreadable archive is a result of the validation; an invalid request or an overloaded server is not.
      if (!(error instanceof SkillError) || error.problems.length === 0) throw error;
      report = reportRefusal(error);
    }
    return JSON.stringify(report);
  };
}
