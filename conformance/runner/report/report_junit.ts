/**
 * Writes the report as JUnit XML, which CI systems read: one test suite per vector file, one test case per
 * vector. A run that says little about the target has one more suite, with an error: a report of skipped
 * vectors alone would count as success.
 *
 * @module
 */
import { CLASS_TITLES, describeEffect } from "../vector/flags.ts";
import type { Report, Reported } from "./report.ts";

export function toJunit({ vectors, seconds, stale, started, shortfall }: Report): string {
  const passes = new Set(stale);
  const start = started.toISOString().slice(0, 19);
  const suites = Map.groupBy(vectors, ({ name }) => name.split("/").slice(0, 2).join("/"));
  const parts = [...suites].map(([suite, cases]) => {
    const time = cases.reduce((sum, each) => sum + each.seconds, 0);
    return `<testsuite name="${escapeXml(suite)}"${formatCounts(cases, passes)} time="${
      time.toFixed(3)
    }" timestamp="${start}">\n` +
      cases.map((each) => toCase(each, passes)).join("") + "</testsuite>\n";
  });
  if (shortfall) {
    const message = escapeXml(`${shortfall.text}. ${shortfall.advice}`);
    parts.push(
      `<testsuite name="run"${formatCounts([], passes, 1)} time="0.000" timestamp="${start}">\n` +
        `  <testcase classname="run" name="The target is tested" time="0.000">` +
        `<error type="shortfall" message="${message}"/></testcase>\n</testsuite>\n`,
    );
  }
  return `<?xml version="1.0" encoding="UTF-8"?>\n` +
    `<testsuites name="trivet-conformance"${formatCounts(vectors, passes, shortfall ? 1 : 0)} time="${
      seconds.toFixed(3)
    }">\n${parts.join("")}</testsuites>\n`;
}

/** @param faults cases with an error that are not vectors */
function formatCounts(cases: readonly Reported[], stale: ReadonlySet<string>, faults = 0): string {
  const failures =
    cases.filter(({ name, counts, outcome }) => counts && outcome !== "error" || stale.has(name)).length;
  const errors = cases.filter(({ counts, outcome }) => counts && outcome === "error").length;
  const skipped = cases.filter(({ outcome }) => outcome === "skip").length;
  return ` tests="${cases.length + faults}" failures="${failures}" errors="${
    errors + faults
  }" skipped="${skipped}"`;
}

function toCase(each: Reported, stale: ReadonlySet<string>): string {
  const { name, title, seconds, outcome, counts, reason = "", step, exchanges, rows, expected, harm } = each;
  const open = `<testcase classname="${escapeXml(name.split("/").slice(0, 2).join("."))}" name="${
    escapeXml(`${name.split("/").slice(2).join("/")}: ${title}`)
  }" time="${seconds.toFixed(3)}"`;
  if (stale.has(name)) {
    const message = "passes now; remove it from the expected failures";
    return `  ${open}><failure type="stale" message="${message}"/></testcase>\n`;
  }
  if (outcome === "pass") return `  ${open}/>\n`;
  if (outcome === "skip") return `  ${open}><skipped message="${escapeXml(reason)}"/></testcase>\n`;
  const shown = [
    step === undefined ? "" : `step: ${step}`,
    ...rows.map(({ id, level, text, link }) => `${id} ${level}: ${text}\n${link}`),
    each.class === undefined ? "" : CLASS_TITLES[each.class],
    harm.length > 0 ? describeEffect(harm) : "",
    ...exchanges.slice(-2).map(({ request, answer, curl }) =>
      `> ${request}\n\n< ${answer}${curl === undefined ? "" : `\n\n$ ${curl}`}`
    ),
    each.repeat === undefined ? "" : `run again: ${each.repeat}`,
  ].filter((part) => part !== "").join("\n\n");
  if (!counts) {
    const why = expected === undefined ? "" : ` (expected: ${expected})`;
    return `  ${open}><system-out>${escapeXml(`${outcome}: ${reason}${why}`)}</system-out></testcase>\n`;
  }
  const tag = outcome === "error" ? "error" : "failure";
  return `  ${open}><${tag} type="${outcome}" message="${escapeXml(reason)}">${
    escapeXml(shown)
  }</${tag}></testcase>\n`;
}

/** Escapes a text for XML 1.0 and removes the characters that it does not allow. */
function escapeXml(text: string): string {
  return text
    // deno-lint-ignore no-control-regex
    .replace(/[^\x09\x0a\x0d\x20-\ud7ff\ue000-\ufffd\u{10000}-\u{10ffff}]/gu, "")
    .replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(">", "&gt;").replaceAll('"', "&quot;")
    .replaceAll("\n", "&#10;");
}
