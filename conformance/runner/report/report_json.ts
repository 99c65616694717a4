/**
 * Writes the report as JSON (`result.schema.json`). Runners in other languages write the same form, so that
 * reports can be compared.
 *
 * @module
 */
import type { Report } from "./report.ts";

export function toJson(report: Report): string {
  const {
    suites,
    seed,
    started,
    seconds,
    target,
    summary,
    passed,
    stale,
    vectors,
    figures,
    lacks,
    kit,
    set,
    asked,
  } = report;
  const document = {
    format: 2,
    runner: "trivet-conformance",
    kit: kit.version,
    digest: kit.digest,
    ...(set && { set: { name: set.name, changed: set.changed } }),
    suite: suites.join(" "),
    seed,
    started: started.toISOString(),
    seconds,
    target,
    summary,
    passed,
    stale,
    asked,
    ...(report.shortfall && { shortfall: `${report.shortfall.text}. ${report.shortfall.advice}` }),
    lacks,
    rows: report.rowCounts,
    coverage: figures.map(({ strength, ...rest }) => ({ ...rest, level: strength })),
    vectors: vectors.map((
      { rows, strength, isUnreachable: _, isShown: __, exchanges, outcome, ...rest },
    ) => ({
      ...rest,
      outcome,
      level: strength,
      links: [...new Set(rows.map(({ link }) => link))],
      exchanges: outcome === "pass" || outcome === "skip" ? [] : exchanges,
    })),
  };
  return JSON.stringify(document, null, 2) + "\n";
}
