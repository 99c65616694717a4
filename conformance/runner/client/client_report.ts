/**
 * Reports about a client: a table for the terminal and JSON.
 *
 * @module
 */
import { CLASS_TITLES, describeEffect } from "../vector/flags.ts";
import type { Requirements } from "../vector/load.ts";
import type { Outcome } from "../vector/vector_file.ts";
import type { RecordedRequest } from "./recorded.ts";
import type { ClientResult } from "./run_client.ts";
import type { LoadedScenario } from "./scenario.ts";

/** Outcomes in the order of the table. */
const OUTCOMES: readonly Outcome[] = ["fail", "warn", "observe", "error", "setup", "skip", "pass"];

/** The number of results by outcome. */
function countOutcomes(results: readonly ClientResult[]): Record<string, number> {
  return Object.fromEntries(
    OUTCOMES.map((word) => [word, results.filter(({ outcome }) => outcome === word).length] as const)
      .filter(([, count]) => count > 0),
  );
}

/** A JSON report. Tokens and codes in it are those of the kit. */
export function toClientJson(
  results: readonly ClientResult[],
  scenarios: readonly LoadedScenario[],
  passed: boolean,
): string {
  const entries = results.map(({ name, outcome, class: failure, harm, covers, reason }, at) => ({
    name,
    title: scenarios[at]!.scenario.title,
    outcome,
    ...(failure && { class: failure }),
    harm,
    rows: {
      failed: isFailure(outcome) && failure !== "other-refusal" ? covers : [],
      held: outcome === "pass" || failure === "other-refusal" ? covers : [],
    },
    ...(reason !== undefined && { reason }),
  }));
  return `${JSON.stringify({ passed, summary: countOutcomes(results), scenarios: entries }, null, 2)}\n`;
}

function isFailure(outcome: Outcome): boolean {
  return outcome === "fail" || outcome === "warn" || outcome === "observe";
}

/** A table: every scenario that did not pass, with its rows, then the counts. */
export function toClientTable(
  results: readonly ClientResult[],
  scenarios: readonly LoadedScenario[],
  { rows }: Requirements,
  verbose: boolean,
): string {
  const lines: string[] = [];
  for (const [at, { name, outcome, class: failure, harm, covers, reason, requests }] of results.entries()) {
    if (outcome === "skip" || outcome === "pass" && !verbose) continue;
    const { scenario } = scenarios[at]!;
    const failureTitle = failure ? ` (${toClassTitle(failure)})` : "";
    lines.push(`${outcome.padEnd(8)}${name}${failureTitle}`, `        ${scenario.title}`);
    if (outcome === "pass") continue;
    if (reason !== undefined) lines.push(`        ${reason}`);
    if (failure) {
      for (const id of covers) lines.push(`        ${rows.get(id)!.level} ${id} ${rows.get(id)!.link}`);
    }
    if (harm && scenario.flags) lines.push(`        ${describeEffect(scenario.flags)}`);
    if (verbose) { for (const each of requests) lines.push(`        > ${describeRequest(each)}`); }
  }
  const skipped = results.filter(({ outcome }) => outcome === "skip");
  for (const reason of new Set(skipped.map((each) => each.reason))) {
    lines.push(`skip    ${skipped.filter((each) => each.reason === reason).length} scenarios: ${reason}`);
  }
  const counts = Object.entries(countOutcomes(results)).map(([word, count]) => `${count} ${word}`);
  return `${[...lines, "", counts.join(", ")].join("\n")}\n`;
}

function toClassTitle(failure: keyof typeof CLASS_TITLES): string {
  return failure === "other-refusal" ? "not accepted, but not refused either" : CLASS_TITLES[failure];
}

function describeRequest({ at, method, path, query, form, json }: RecordedRequest): string {
  const parts = [query, form].filter((each) => Object.keys(each).length > 0).map((each) =>
    JSON.stringify(each)
  );
  const body = json === undefined ? [] : [JSON.stringify(json)];
  return [`${at}: ${method} ${path}`, ...parts, ...body].join(" ").slice(0, 400);
}
