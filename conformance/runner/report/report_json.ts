/**
 * The report as JSON: `result.schema.json`. Runners in any language write this form, so that their reports compare.
 *
 * @module
 */
import type { Report } from "./report.ts";

export function toJson(report: Report): string {
  const { suites, seed, started, seconds, target, summary, passed, stale, vectors, figures, lacks } = report;
  const whole = {
    format: 1,
    runner: "trivet-conformance",
    suite: suites.join(" "),
    seed,
    started: started.toISOString(),
    seconds,
    target,
    summary,
    passed,
    stale,
    lacks,
    coverage: figures.map(({ strength, ...rest }) => ({ ...rest, level: strength })),
    vectors: vectors.map(({ rows, strength, isGone: _, exchanges, outcome, ...rest }) => ({
      ...rest,
      outcome,
      level: strength,
      links: [...new Set(rows.map(({ link }) => link))],
      exchanges: outcome === "pass" || outcome === "skip" ? [] : exchanges,
    })),
  };
  return JSON.stringify(whole, null, 2) + "\n";
}
