/**
 * The report for a terminal: a line per file, what is not as it should be, coverage, and a last line that says it all.
 *
 * @module
 */
import process from "node:process";
import { effect } from "../vector/flag.ts";
import { findingsOf, lastExchange, type Report, type Reported, sharing } from "./report.ts";

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
  const lines = [...notes(report), ...files(report, paint), ""];
  if (verbose) { for (const { name } of passing(report)) lines.push(`${paint("pass", "pass   ")} ${name}`); }
  for (const group of sharing(findingsOf(report))) {
    for (const line of showGroup(group, verbose, paint)) lines.push(line);
  }
  for (const name of report.stale) {
    lines.push(`${paint("fail", "stale")} ${name}: it passes now, remove it from the baseline`);
  }
  const rest = [coverage(report), lacks(report, paint), again(report), ["", total(report, paint)]];
  return [lines, ...rest].flat().join("\n") + "\n";
}

function notes({ target }: Report): string[] {
  if (target.notes === undefined) return [];
  return [
    `${target.name} says no "features". What it shows:`,
    ...target.notes.map((each) => `  ${each}`),
    "",
  ];
}

function passing({ vectors }: Report): readonly Reported[] {
  return vectors.filter(({ outcome }) => outcome === "pass");
}

function hasColor(): boolean {
  return process.stdout.isTTY === true && !process.env["NO_COLOR"];
}

type Paint = (word: string, text: string) => string;

const WORDS = ["pass", "fail", "warn", "observe", "skip", "setup", "error"] as const;

function files({ vectors }: Report, paint: Paint): string[] {
  const groups = [...Map.groupBy(vectors, ({ name }) => name.split("/").slice(0, 2).join("/"))];
  const asked = groups.filter(([, all]) => all.some(({ outcome }) => outcome !== "skip"));
  const skipped = groups.filter(([, all]) => all.every(({ outcome }) => outcome === "skip"));
  const width = asked.reduce((most, [name]) => Math.max(most, name.length), 0);
  const lines = asked.map(([name, all]) => {
    const counts = WORDS.flatMap((word) => {
      const count = all.filter(({ outcome }) => outcome === word).length;
      return count === 0 ? [] : [paint(word, `${count} ${word}`)];
    });
    return `${name.padEnd(width)}  ${counts.join("  ")}`;
  });
  if (skipped.length === 0) return lines;
  return [
    ...lines,
    paint("skip", `skipped whole: ${skipped.map(([name, all]) => `${name} ${all.length}`).join(", ")}`),
  ];
}

const MAX_NAMES = 5;

function showGroup([first, ...others]: readonly Reported[], verbose: boolean, paint: Paint): string[] {
  const lines = showVector(first!, verbose, paint, others.length > 0);
  if (others.length === 0) return lines;
  const names = others.slice(0, MAX_NAMES).map(({ name }) => name).join(", ");
  const more = others.length > MAX_NAMES ? ` and ${others.length - MAX_NAMES} more` : "";
  return [...lines, `        as well as ${names}${more}`];
}

function showVector(each: Reported, verbose: boolean, paint: Paint, isShared: boolean): string[] {
  const { name, outcome, title, step, reason = "", rows, flags, expected, exchanges } = each;
  const [request, answer] = lastExchange(each);
  const lines = [
    `${paint(outcome, outcome.padEnd(7))} ${name}`,
    `        ${title}`,
    // What was not asked stands at no step.
    ...(step === undefined ? [] : [`        at "${step}"${request === undefined ? "" : `, ${request}`}`]),
    ...(answer === undefined ? [] : [`        answered ${answer}`]),
    ...reason.split("\n").map((line) => `        ${line}`),
  ];
  if (!isShared) {
    for (const { id, level, text, link } of rows) {
      lines.push(`        ${id} ${level}: ${text}`, `          ${link}`);
    }
    if (flags.length > 0) lines.push(`        ${effect(flags)}`);
  }
  if (expected !== undefined) lines.push(`        expected: ${expected}`);
  if (verbose) {
    for (const { request, answer } of exchanges) {
      lines.push("", ...indent(request, "        > "), ...indent(answer, "        < "));
    }
  }
  return [...lines, ""];
}

function indent(text: string, by: string): string[] {
  return text.split("\n").map((line) => by + line);
}

function coverage({ figures }: Report): string[] {
  const touched = new Set(figures.filter(({ asked }) => asked > 0).map(({ document }) => document));
  const shown = figures.filter(({ document }) => touched.has(document));
  const others = [...new Set(figures.map(({ document }) => document))].filter((each) => !touched.has(each));
  if (shown.length === 0) return [];
  const head = ["document", "level", "rows", "excluded", "asked", "held", "not held", "skipped"];
  const rows = shown.map((each) =>
    [each.document, each.strength, each.rows, each.excluded, each.asked, each.held, each.broken, each.skipped]
      .map(String)
  );
  const widths = head.map((name, at) =>
    rows.reduce((most, row) => Math.max(most, row[at]!.length), name.length)
  );
  const line = (row: readonly string[]) =>
    row.map((cell, at) => at < 2 ? cell.padEnd(widths[at]!) : cell.padStart(widths[at]!)).join("  ")
      .trimEnd();
  const rest = others.length === 0 ? [] : [`nothing asked of: ${others.join(", ")}`];
  return ["", line(head), ...rows.map(line), ...rest];
}

const MAX_MISSING = 12;

function lacks({ lacks: all, vectors, asked }: Report, paint: Paint): string[] {
  if (asked === vectors.length) return [];
  const shown = all.slice(0, MAX_MISSING).map(({ count, name, text }) =>
    paint("skip", `${String(count).padStart(5)}  ${name}${text === undefined ? "" : `: ${text}`}`)
  );
  const more = all.length - shown.length;
  return [
    "",
    `Not asked: ${
      vectors.length - asked
    } of ${vectors.length}. What they need of the target, and how many need it:`,
    ...shown,
    ...(more > 0 ? [paint("skip", `       and ${more} more needs: --report-dir writes them all`)] : []),
  ];
}

/** How to look closer. */
function again(report: Report): string[] {
  const [first] = findingsOf(report);
  if (!first) return [];
  return [
    "",
    `Closer: add --only ${first.name} --verbose --seed ${report.seed}, or --report-dir DIR for all of it.`,
  ];
}

function total({ summary, passed, seconds, seed, vectors, target, asked }: Report, paint: Paint): string {
  const counts = WORDS.filter((word) => summary[word] > 0).map((word) => `${summary[word]} ${word}`).join(
    ", ",
  );
  const verdict = asked === 0
    ? paint("fail", "nothing was asked")
    : passed
    ? paint("pass", "as expected")
    : paint("fail", "not as expected");
  return `${target.name}: ${verdict}. ${vectors.length} vectors in ${
    seconds.toFixed(1)
  } s: ${counts} (seed ${seed})`;
}
