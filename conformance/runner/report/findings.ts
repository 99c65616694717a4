/**
 * The failures of a report: sorted by severity, grouped by cause, and the exchange that shows one.
 *
 * @module
 */
import { isFailure, type Strength, toStrength } from "../outcome.ts";
import type { Outcome } from "../vector/vector_file.ts";
import type { Row } from "../vector/load.ts";
import { NO_VALUE } from "./describe.ts";
import type { Report, Reported } from "./report.ts";

const BY_SEVERITY: readonly Outcome[] = ["fail", "error", "setup", "warn", "observe"];

/** All failures that the report shows, most severe first, expected ones last. */
export function sortFindings({ vectors }: Report): Reported[] {
  const rank = ({ outcome, expected }: Reported) =>
    BY_SEVERITY.indexOf(outcome) + (expected === undefined ? 0 : 10);
  return vectors.filter(({ outcome, isShown }) => isShown && isFailure(outcome))
    .sort((one, other) => rank(one) - rank(other));
}

/** Groups failures with the same cause, the first of which shows it. */
export function groupByCause(findings: readonly Reported[]): Reported[][] {
  return [...Map.groupBy(findings, toCause).values()];
}

/**
 * The same cause: the same row differs in the same way, the same error comes in place of the expected ones, the same
 * step of the setup failed, or the same reason is given for expected failures.
 */
function toCause(finding: Reported): string {
  const { outcome, class: failureClass, step, reason = "", expected, name } = finding;
  if (expected !== undefined) return [outcome, expected].join("\n");
  if (outcome === "setup") return `${step} ${reason}`;
  if (outcome === "error") return reason;
  if (failureClass === "other-refusal") {
    return [outcome, failureClass, reason.replace(/: expected .*?, got /, ": ")].join("\n");
  }
  const row = getCausingRow(finding)?.id ?? name;
  return [outcome, failureClass, row, describeDifference(reason)].join("\n");
}

const STRONGEST_FIRST: readonly Strength[] = ["MUST", "SHOULD", "MAY"];

/** The cause of a group in words, from its first failure. */
export function describeCause(finding: Reported): string {
  const { class: failureClass, expected, reason = "" } = finding;
  if (expected !== undefined) return expected;
  if (failureClass === "other-refusal") return reason.split("\n")[0]!.replace(/: expected .*?, got /, " is ");
  const row = getCausingRow(finding);
  return `${row ? `row ${row.id}, ` : ""}${describeDifference(reason)}`;
}

/** The strongest row that failed. */
export function getCausingRow({ rows }: Reported): Row | undefined {
  const rank = ({ level }: Row) => STRONGEST_FIRST.indexOf(toStrength(level));
  return [...rows].sort((one, other) => rank(one) - rank(other))[0];
}

/** The difference without the values that vary from vector to vector: `status is 200`, `json.error differs`. */
function describeDifference(reason: string): string {
  const line = reason.split("\n")[0]!;
  const [, place = "", expected = "", actual = ""] = /^(\S+): expected (.*?), got (.*)$/.exec(line) ?? [];
  // Positions in lists vary.
  const path = place.replace(/\.\d+(?=\.|$)/g, ".n");
  if (path === "") return line.replace(/[:(].*/, "").replace(/\d+/g, "n").trim();
  if (path === "status") return `status is ${/^\d+/.exec(actual)?.[0] ?? "missing"}`;
  if (actual.startsWith(NO_VALUE)) return `${path} is missing`;
  return expected === NO_VALUE ? `${path} is present` : `${path} differs`;
}

const MAX_LINE_CHARACTERS = 120;
const MAX_BODY_CHARACTERS = 400;

export interface ExchangeSummary {
  readonly request?: string;
  readonly body?: string;
  readonly answer?: string;
}

/** The last exchange: start line and body of the request, and the response in one line. */
export function summarizeLastExchange({ exchanges }: Reported): ExchangeSummary {
  const last = exchanges.at(-1);
  if (!last) return {};
  const [head = "", ...content] = last.answer.split("\n\n");
  const [status = "", ...fields] = head.split("\n");
  const location = fields.find((field) => field.startsWith("location: "));
  const answer = toLine([status, ...(location ? [location] : []), ...content].join(" "), MAX_LINE_CHARACTERS);
  const [requestHead = "", ...rest] = last.request.split("\n\n");
  const body = toLine(rest.join(" "), MAX_BODY_CHARACTERS);
  return {
    request: toLine(requestHead.split("\n")[0]!, MAX_LINE_CHARACTERS),
    ...(body !== "" && { body }),
    ...(answer !== "" && { answer }),
  };
}

function toLine(text: string, maxCharacters: number): string {
  const line = text.replace(/\s+/g, " ").trim();
  return line.length > maxCharacters ? `${line.slice(0, maxCharacters)}…` : line;
}
