/**
 * Prints the report on a terminal: one line per vector file, the failures, the coverage, the reasons for
 * skipped vectors, and a last line with the result.
 *
 * @module
 */
import process from "node:process";
import { CLASS_TITLES, describeEffect } from "../vector/flags.ts";
import { describeCause, groupByCause, sortFindings, summarizeLastExchange } from "./findings.ts";
import type { Report, Reported } from "./report.ts";

const ANSI_COLORS: Readonly<Record<string, string>> = {
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
  const paint = (word: string, text: string) => color ? `\x1b[${ANSI_COLORS[word]}m${text}\x1b[0m` : text;
  const lines = [...formatNotes(report), ...formatFiles(report, paint), ""];
  if (verbose) {
    for (const { name } of selectPassing(report)) lines.push(`${paint("pass", "pass   ")} ${name}`);
  }
  for (const group of groupByCause(sortFindings(report))) {
    for (const line of formatGroup(group, verbose, paint)) lines.push(line);
  }
  for (const name of report.stale) {
    lines.push(`${paint("fail", "stale")} ${name}: passes now; remove it from the expected failures`);
  }
  const rest: string[][] = [
    formatCoverage(report),
    formatUnmetNeeds(report, paint),
    formatNextCommand(report),
  ];
  rest.push(formatSet(report), formatRowCounts(report), [formatTotal(report, paint)]);
  return [lines, ...rest].flat().join("\n") + "\n";
}

function formatNotes({ target }: Report): string[] {
  if (target.notes === undefined) return [];
  return [
    `No features are declared for ${target.name}. Detected:`,
    ...target.notes.map((each) => `  ${each}`),
    "",
  ];
}

function selectPassing({ vectors }: Report): readonly Reported[] {
  return vectors.filter(({ outcome }) => outcome === "pass");
}

function hasColor(): boolean {
  return process.stdout.isTTY === true && !process.env["NO_COLOR"];
}

type Paint = (word: string, text: string) => string;

const OUTCOMES = ["pass", "fail", "warn", "observe", "skip", "setup", "error"] as const;

function formatFiles({ vectors }: Report, paint: Paint): string[] {
  const groups = [...Map.groupBy(vectors, ({ name }) => name.split("/").slice(0, 2).join("/"))];
  const tested = groups.filter(([, all]) => all.some(({ outcome }) => outcome !== "skip"));
  const skipped = groups.filter(([, all]) => all.every(({ outcome }) => outcome === "skip"));
  const width = tested.reduce((most, [name]) => Math.max(most, name.length), 0);
  const lines = tested.map(([name, all]) => {
    const counts = OUTCOMES.flatMap((word) => {
      const count = all.filter(({ outcome }) => outcome === word).length;
      return count === 0 ? [] : [paint(word, `${count} ${word}`)];
    });
    return `${name.padEnd(width)}  ${counts.join("  ")}`;
  });
  if (skipped.length === 0) return lines;
  return [
    ...lines,
    paint("skip", `all skipped: ${skipped.map(([name, all]) => `${name} ${all.length}`).join(", ")}`),
  ];
}

const MAX_NAMES = 5;

function formatGroup([first, ...others]: readonly Reported[], verbose: boolean, paint: Paint): string[] {
  const lines = formatVector(first!, verbose, paint, others.length > 0 && first!.outcome === "setup");
  if (others.length === 0) return lines;
  const cause = describeCause(first!);
  if (verbose) {
    const all = others.flatMap((each) => formatVector(each, true, paint, true));
    return [...lines, `        same cause (${cause}), ${others.length} more:`, "", ...all];
  }
  const names = others.slice(0, MAX_NAMES).map(({ name }) => name).join(", ");
  const more = others.length > MAX_NAMES ? ` and ${others.length - MAX_NAMES} more` : "";
  return [...lines.slice(0, -1), `        same cause (${cause}): ${names}${more}`, ""];
}

function formatVector(each: Reported, verbose: boolean, paint: Paint, isShared: boolean): string[] {
  const { name, outcome, title, step, reason = "", rows, harm, expected, exchanges } = each;
  const { request, body, answer } = summarizeLastExchange(each);
  const lines = [
    `${paint(outcome, outcome.padEnd(7))} ${name}${each.class ? ` (${CLASS_TITLES[each.class]})` : ""}`,
    `        ${title}`,
    // A vector that was not run has no step.
    ...(step === undefined ? [] : [`        step "${step}"${request === undefined ? "" : `: ${request}`}`]),
    ...(body === undefined ? [] : [`        body: ${body}`]),
    ...(answer === undefined ? [] : [`        response: ${answer}`]),
    ...reason.split("\n").map((line) => `        ${line}`),
  ];
  if (!isShared) {
    for (const { id, level, text, link } of rows) {
      lines.push(`        ${id} ${level}: ${text}`, `          ${link}`);
    }
    if (harm.length > 0) lines.push(`        ${describeEffect(harm)}`);
  }
  if (expected !== undefined) lines.push(`        expected: ${expected}`);
  if (verbose) {
    for (const { request, answer, curl } of exchanges) {
      lines.push("", ...indent(request, "        > "), ...indent(answer, "        < "));
      if (curl !== undefined) lines.push(...indent(curl, "        $ "));
    }
    if (each.repeat !== undefined) lines.push("", `        run again: ${each.repeat}`);
  }
  return [...lines, ""];
}

function indent(text: string, by: string): string[] {
  return text.split("\n").map((line) => by + line);
}

function formatCoverage({ figures }: Report): string[] {
  const touched = new Set(figures.filter(({ asked }) => asked > 0).map(({ document }) => document));
  const shown = figures.filter(({ document }) => touched.has(document));
  const others = [...new Set(figures.map(({ document }) => document))].filter((each) => !touched.has(each));
  if (shown.length === 0) return [];
  const head = ["document", "level", "rows", "excluded", "tested", "met", "not met", "skipped"];
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
  const rest = others.length === 0 ? [] : [`not tested: ${others.join(", ")}`];
  return ["", line(head), ...rows.map(line), ...rest];
}

const MAX_MISSING = 12;

function formatUnmetNeeds({ lacks: all, vectors, asked }: Report, paint: Paint): string[] {
  if (asked === vectors.length) return [];
  const shown = all.slice(0, MAX_MISSING).map(({ count, name, text }) =>
    paint("skip", `${String(count).padStart(5)}  ${name}${text === undefined ? "" : `: ${text}`}`)
  );
  const more = all.length - shown.length;
  return [
    "",
    `Skipped: ${
      vectors.length - asked
    } of ${vectors.length} vectors. What they need from the target, with the number of vectors:`,
    ...shown,
    ...(more > 0 ? [paint("skip", `       and ${more} more; --report-dir writes all of them`)] : []),
  ];
}

/** The command for more detail about the first failure. */
function formatNextCommand(report: Report): string[] {
  const [first] = sortFindings(report);
  if (!first) return [];
  return ["", `For details: ${first.repeat}`, "For all failures with their exchanges, add --report-dir DIR."];
}

const MAX_CHANGED = 5;

/** The vectors of the frozen set that changed since. */
function formatSet({ set }: Report): string[] {
  if (!set) return [];
  const { name, changed, hasDigests } = set;
  if (!hasDigests) {
    return ["", `Set ${name}: lists names only. The content of its vectors may have changed since.`];
  }
  if (changed.length === 0) return ["", `Set ${name}: no vector changed since it was frozen.`];
  const shown = changed.slice(0, MAX_CHANGED).map((each) => each.name).join(", ");
  const more = changed.length > MAX_CHANGED ? ` and ${changed.length - MAX_CHANGED} more` : "";
  return [
    "",
    `Set ${name}: ${changed.length} vectors changed since it was frozen and do not count: ${shown}${more}.`,
  ];
}

function formatRowCounts({ rowCounts: { total, asked, met }, kit }: Report): string[] {
  const version = `Kit ${kit.version}, vectors ${kit.digest}`;
  return ["", `${version}. Requirement rows: ${asked} of ${total} asked, ${met} met.`];
}

function formatTotal(
  { summary, passed, seconds, seed, vectors, target, shortfall }: Report,
  paint: Paint,
): string {
  const counts = OUTCOMES.filter((word) => summary[word] > 0).map((word) => `${summary[word]} ${word}`).join(
    ", ",
  );
  const verdict = shortfall
    ? paint("fail", `not tested. ${shortfall.text}. ${shortfall.advice}\n${target.name}`)
    : passed
    ? paint("pass", "as expected")
    : paint("fail", "not as expected");
  return `${target.name}: ${verdict}${shortfall ? ":" : "."} ${vectors.length} vectors in ${
    seconds.toFixed(1)
  } s: ${counts} (seed ${seed})`;
}
