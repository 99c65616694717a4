/**
 * Renders the page of a run: for each table one bar for each row, with the interval of its ratio, and what the row does and
 * leaves out. The page is self-contained and has no script.
 *
 * @module
 */
import type { Interval } from "../measuring/statistics.ts";

/** A row of the page; a row without a ratio is a baseline or is not supported. */
export interface Row {
  readonly name: string;
  readonly explanation?: string | undefined;
  readonly perSecond?: number | undefined;
  /** Microseconds of processor time of one call. */
  readonly cpu?: number | undefined;
  readonly ratio?: number | undefined;
  readonly interval?: Interval | undefined;
  /** Other numbers, with their units. */
  readonly others?: readonly string[] | undefined;
  readonly noise?: readonly string[] | undefined;
  readonly baseline?: string | undefined;
  readonly target?: number | undefined;
  readonly unsupported?: string | undefined;
}

export interface Table {
  readonly title: string;
  /** What the ratios compare. @default the rates */
  readonly ratio?: string;
  readonly rows: readonly Row[];
}

const STYLE = `
:root { color-scheme: light dark; --text: #1c2024; --muted: #5b6570; --back: #fcfcfd; --card: #fff; --line: #d9dee3;
  --bar: #3b74c4; --own: #0f7d6c; --mark: #1c2024; --warn: #9a4b00; --bad: #b42318; }
@media (prefers-color-scheme: dark) { :root { --text: #e8eaed; --muted: #a2abb5; --back: #14171a; --card: #1c2024;
  --line: #363d45; --bar: #6ea2ea; --own: #45bda8; --mark: #fff; --warn: #f0a35e; --bad: #ff8f85; } }
* { box-sizing: border-box; }
body { margin: 0 auto; padding: 1rem; max-width: 62rem; background: var(--back); color: var(--text);
  font: 1rem/1.45 system-ui, sans-serif; overflow-wrap: anywhere; }
h1 { font-size: 1.5rem; margin: 0.5rem 0; } h2 { font-size: 1.15rem; margin: 2rem 0 0.5rem; }
p, dl { margin: 0.5rem 0; } dl { display: grid; grid-template-columns: max-content 1fr; gap: 0 1rem; }
dt, .muted { color: var(--muted); } dd { margin: 0; }
ul { list-style: none; margin: 0; padding: 0; }
li { background: var(--card); border: 1px solid var(--line); border-radius: 0.5rem; padding: 0.5rem 0.75rem; margin: 0.4rem 0; }
.head { display: flex; flex-wrap: wrap; justify-content: space-between; gap: 0 1rem; }
.name { font-weight: 600; } .numbers { font-variant-numeric: tabular-nums; }
svg { display: block; width: 100%; height: 1.4rem; margin: 0.25rem 0; }
.track { fill: var(--line); opacity: 0.5; } .bar { fill: var(--bar); } .own .bar { fill: var(--own); }
.interval { stroke: var(--mark); stroke-width: 2; } .one { stroke: var(--muted); stroke-dasharray: 3 3; }
.target { stroke: var(--bad); stroke-width: 2; }
details { font-size: 0.92rem; } summary { cursor: pointer; color: var(--muted); }
.warn { color: var(--warn); } .bad { color: var(--bad); } .warn, .bad { font-size: 0.92rem; }
`;

/** Escapes text for HTML. */
function escape(text: string): string {
  return text.replaceAll("&", "&amp;").replaceAll("<", "&lt;").replaceAll(
    ">",
    "&gt;",
  ).replaceAll('"', "&quot;");
}

/** Renders the page. @param facts facts of the machine and of the run */
export function renderPage(
  facts: Readonly<Record<string, string>>,
  tables: readonly Table[],
): string {
  const list = Object.entries(facts).map(([name, value]) =>
    `<dt>${escape(name)}</dt><dd>${escape(value)}</dd>`
  ).join("\n");
  return `<!doctype html>
<html lang="en">
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<title>Benchmarks of Trivet</title>
<style>${STYLE}</style>
<h1>Benchmarks of Trivet</h1>
<p>A bar is a ratio to the baseline of its row: 1 (dashed line) is as good, longer is better. The line across the end of a
bar is the interval that contains the ratio with a probability of 95 %; a red line is the ratio that the project requires.
Rows with an interval were measured in turn, in random order in each round, after each had become steady. Only ratios of one
run can be compared; absolute numbers depend on the machine.</p>
<dl>
${list}
</dl>
${tables.map(renderTable).join("\n")}
</html>
`;
}

function renderTable({ title, ratio = "rates", rows }: Table): string {
  const largest = Math.max(
    1,
    ...rows.map((row) => Math.max(row.ratio ?? 0, row.interval?.high ?? 0)),
  );
  return `<h2>${escape(title)}</h2>
<p class="muted">Ratios of ${escape(ratio)}; the scale ends at ${format(largest)}.</p>
<ul>
${rows.map((row) => renderRow(row, largest)).join("\n")}
</ul>`;
}

function renderRow(row: Row, largest: number): string {
  const {
    name,
    explanation,
    perSecond,
    cpu,
    ratio,
    interval,
    others = [],
    noise = [],
    baseline,
    target,
    unsupported,
  } = row;
  const numbers = [
    ratio === undefined
      ? ""
      : `<b>${format(ratio)}</b>${interval ? ` (${format(interval.low)} to ${format(interval.high)})` : ""}`,
    perSecond === undefined ? "" : `${formatCount(perSecond)} per second`,
    cpu === undefined ? "" : `${format(cpu)} µs of processor time`,
    ...others.map(escape),
  ].filter((part) => part !== "");
  const isMissed = target !== undefined && ratio !== undefined &&
    ratio < target;
  return `<li${/\bTrivet\b/.test(name) ? ' class="own"' : ""}>
<div class="head"><span class="name">${escape(name)}</span><span class="numbers">${
    numbers.join(" · ")
  }</span></div>
${ratio === undefined ? "" : renderBar(row, largest)}
${unsupported === undefined ? "" : `<div class="muted">Not supported: ${escape(unsupported)}</div>`}
${isMissed ? `<div class="bad">Target ${format(target)} missed</div>` : ""}
${noise.length === 0 ? "" : `<div class="warn">Noisy: ${escape(noise.join("; "))}</div>`}
<details><summary>What it does${
    baseline === undefined ? "" : `; compared with ${escape(baseline)}`
  }</summary>${escape(explanation ?? "No explanation.")}</details>
</li>`;
}

/** The drawing is decoration: the numbers beside it say the same. */
function renderBar(
  { ratio = 0, interval, target }: Row,
  largest: number,
): string {
  const at = (value: number) => `${(value / largest * 100).toFixed(2)}%`;
  const line = (value: number, kind: string) =>
    `<line class="${kind}" x1="${at(value)}" x2="${at(value)}" y1="0" y2="100%"/>`;
  const limits = interval === undefined ? "" : [
    `<line class="interval" x1="${at(interval.low)}" x2="${at(interval.high)}" y1="50%" y2="50%"/>`,
    ...[interval.low, interval.high].map((value) =>
      `<line class="interval" x1="${at(value)}" x2="${at(value)}" y1="25%" y2="75%"/>`
    ),
  ].join("");
  return `<svg aria-hidden="true"><rect class="track" width="100%" height="100%"/>` +
    `<rect class="bar" y="15%" width="${at(ratio)}" height="70%"/>${line(1, "one")}${
      target === undefined ? "" : line(target, "target")
    }${limits}</svg>`;
}

function format(value: number): string {
  const digits = value >= 100 ? 0 : value >= 10 ? 1 : 2;
  return value.toLocaleString("en", {
    minimumFractionDigits: digits,
    maximumFractionDigits: digits,
  });
}

function formatCount(value: number): string {
  return value >= 100 ? Math.round(value).toLocaleString("en") : format(value);
}
