/**
 * The report for a terminal: a line per file, what is not as it should be, coverage, and a last line that says it all.
 *
 * @module
 */
import process from "node:process";
import type { Report, Reported } from "./report.ts";

const COLORS: Readonly<Record<string, string>> = {
  pass: "32",
  fail: "31",
  setup: "31",
  error: "35",
  warn: "33",
  observe: "36",
  skip: "90",
};

interface TableOptions {
  readonly verbose: boolean;
  readonly color?: boolean;
}

export function toTable(report: Report, { verbose, color = hasColor() }: TableOptions): string {
  const paint = (word: string, text: string) => color ? `\x1b[${COLORS[word]}m${text}\x1b[0m` : text;
  const lines = [...files(report, paint), ""];
  const told = report.vectors.filter(({ outcome }) => verbose || outcome !== "pass" && outcome !== "skip");
  for (const each of told) lines.push(...showVector(each, verbose, paint));
  for (const name of report.stale) {
    lines.push(`${paint("fail", "stale")} ${name}: it passes now, remove it from the baseline`);
  }
  lines.push(...coverage(report), ...skips(report, paint), "", total(report, paint));
  return lines.join("\n") + "\n";
}

function hasColor(): boolean {
  return process.stdout.isTTY === true && !process.env["NO_COLOR"];
}

type Paint = (word: string, text: string) => string;

const WORDS = ["pass", "fail", "warn", "observe", "skip", "setup", "error"] as const;

function files({ vectors }: Report, paint: Paint): string[] {
  const groups = Map.groupBy(vectors, ({ name }) => name.split("/").slice(0, 2).join("/"));
  const width = Math.max(...[...groups.keys()].map((name) => name.length));
  return [...groups].map(([name, all]) => {
    const counts = WORDS.flatMap((word) => {
      const count = all.filter(({ outcome }) => outcome === word).length;
      return count === 0 ? [] : [paint(word, `${count} ${word}`)];
    });
    return `${name.padEnd(width)}  ${counts.join("  ")}`;
  });
}

function showVector(each: Reported, verbose: boolean, paint: Paint): string[] {
  const { name, outcome, title, step, reason, rows, expected, exchanges } = each;
  const lines = [`${paint(outcome, outcome.padEnd(7))} ${name}`];
  if (outcome === "pass") return lines;
  lines.push(`        ${title}`);
  if (step !== undefined || reason !== undefined) lines.push(`        at "${step ?? "?"}": ${reason ?? ""}`);
  for (const { id, level, text } of rows) lines.push(`        ${id} ${level}: ${text}`);
  if (expected !== undefined) lines.push(`        expected: ${expected}`);
  if (verbose) {
    for (const { request, answer } of exchanges) {
      lines.push(...indent(request, "        > "), ...indent(answer, "        < "), "");
    }
  }
  return lines;
}

function indent(text: string, by: string): string[] {
  return text.split("\n").map((line) => by + line);
}

function coverage({ figures }: Report): string[] {
  if (figures.length === 0) return [];
  const head = ["document", "level", "rows", "excluded", "asked", "held", "not held", "skipped"];
  const rows = figures.map((each) =>
    [each.document, each.strength, each.rows, each.excluded, each.asked, each.held, each.broken, each.skipped]
      .map(String)
  );
  const widths = head.map((name, at) => Math.max(name.length, ...rows.map((row) => row[at]!.length)));
  const line = (row: readonly string[]) =>
    row.map((cell, at) => at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)).join("  ")
      .trimEnd();
  return ["", line(head), ...rows.map(line)];
}

function skips({ vectors }: Report, paint: Paint): string[] {
  const reasons = Map.groupBy(
    vectors.filter(({ outcome }) => outcome === "skip"),
    ({ reason }) => reason ?? "",
  );
  if (reasons.size === 0) return [];
  const lines = [...reasons].sort(([, one], [, other]) => other.length - one.length)
    .map(([reason, all]) => paint("skip", `${String(all.length).padStart(4)} skipped: ${reason}`));
  return ["", ...lines];
}

function total({ summary, passed, seconds, seed, vectors, target }: Report, paint: Paint): string {
  const counts = WORDS.filter((word) => summary[word] > 0).map((word) => `${summary[word]} ${word}`).join(
    ", ",
  );
  const verdict = passed ? paint("pass", "as expected") : paint("fail", "not as expected");
  return `${target.name}: ${verdict}. ${vectors.length} vectors in ${
    seconds.toFixed(1)
  } s: ${counts} (seed ${seed})`;
}
