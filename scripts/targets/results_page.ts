/**
 * Writes `conformance/RESULTS.md` and `conformance/matrix.html` from what is stored beside each target.
 *
 * @module
 */
import { existsSync, readFileSync } from "node:fs";
import { basename } from "node:path";
import { html, type Markup } from "../../conformance/runner/target/html.ts";
import { STYLE } from "../../conformance/runner/report/report_style.ts";
import {
  describeCell,
  formatCell,
  type Matrix,
  type MatrixCell,
  nameRun,
  SUITES,
  toMatrices,
} from "./matrix.ts";
import type { Finding, Server, TargetFolder } from "./target_data.ts";

export const RESULTS = "conformance/RESULTS.md";
export const MATRIX = "conformance/matrix.html";

/** What follows this line in `RESULTS.md` is kept. */
const END = "<!-- The part above is generated: npm run targets -- --matrix -->";

const INTRODUCTION = `# Results for other implementations

Each server in [\`targets/\`](targets/) is set up as its documentation says, in the newest release of its registry
(Debian's are those of Debian 12), and tested for what it claims. A cell of the tables is the number of MUST rows
that are met, of those that were asked; in parentheses, rows of other levels where no MUST was asked; \`–\` if no row
was asked; \`?\` if only the total of an older run is known. [\`matrix.html\`](matrix.html) is the same as a page to share.

\`targets/<name>/findings.json\` has each finding that was checked by hand: the row, what was sent, what came back and
what it means. \`by_hand.sh\` beside it repeats them with curl, independent of the runner. A **fault** is a MUST that is
not met, a **departure** a SHOULD, or a MUST that another document relaxes; a **choice** is documented by the project
as intended. The severity is our judgement of that configuration: _low_ (no one is harmed), _medium_ (it weakens one
protection beside others), _high_ (enough for an attack). Known failures are in \`deviations\` of the target file.

\`npm run targets -- --install\` runs all servers that are installed here and reports what changed, \`--write\` stores
the results, \`--matrix\` writes this page.`;

/** The text of `RESULTS.md`. */
export function toResultsText(targets: readonly TargetFolder[]): string {
  const kept = existsSync(RESULTS) ? readFileSync(RESULTS, "utf8").split(END)[1] ?? "\n" : "\n";
  const parts = [
    INTRODUCTION,
    ...toMatrices(targets).map(formatMatrix),
    ...formatMutants(targets),
    "## Findings",
    ...targets.flatMap(({ folder, servers }) => servers.map((server) => formatServer(server, folder))),
    END,
  ];
  return parts.join("\n\n") + kept;
}

function formatMatrix({ suite, runs, totals, documents }: Matrix): string {
  const row = (cells: readonly string[]) => `| ${cells.join(" | ")} |`;
  return [
    `## ${SUITES[suite]}`,
    "",
    row(["", ...runs.map((run) => escapeCell(nameRun(run)))]),
    row(["---", ...runs.map(() => "---:")]),
    row(["vectors pass", ...runs.map(({ summary }) => String(summary["pass"]))]),
    row(["vectors fail", ...runs.map(({ summary }) => String(summary["fail"]))]),
    ...["MUST", "SHOULD", "MAY"].map((level) =>
      row([
        `${level} rows`,
        ...totals.map(({ levels = [] }) => formatLevel(levels.filter((each) => each.level === level))),
      ])
    ),
    ...documents.map(({ document, cells }) => row([document, ...cells.map(formatCell)])),
    row(["kit", ...runs.map(({ kit }) => kit ?? "before 2.0")]),
    row(["date", ...runs.map(({ date }) => date)]),
  ].join("\n");
}

const MUTANTS_INTRODUCTION = `## What the vectors detect on other servers

Faults stand before a server and change its requests and responses (\`npm run mutants -- --proxy --write --target FILE\`).
A fault is _detected_ if a vector that is written for it fails, and _missed_ if these vectors pass. It is not counted if
it does not apply, which the run computes: _no effect_, it changed no request and no response; _prevented_, it broke what
each of its vectors needs first, such as the sign-in; _not asked_, none of its vectors passes on this server without it.`;

/** The part about mutants, if they ran before a server. */
function formatMutants(targets: readonly TargetFolder[]): string[] {
  const figures = targets.flatMap(({ mutants }) => mutants ?? []);
  if (figures.length === 0) return [];
  const rows = figures.map(
    ({ name, version = "", date, killed, survived, prevented, unchanged, not_asked }) => {
      const known = version === "" || name.includes(version) ? name : `${name} ${version}`;
      const missed = survived.length === 0 ? "0" : `${survived.length}: ${survived.join(", ")}`;
      const cells = [
        `${killed}/${killed + survived.length}`,
        missed,
        unchanged,
        prevented.length,
        not_asked,
        date,
      ];
      return `| ${escapeCell(known)} | ${cells.join(" | ")} |`;
    },
  );
  const table = [
    "| server | detected | missed | no effect | prevented | not asked | date |",
    "| --- | ---: | ---: | ---: | ---: | ---: | --- |",
    ...rows,
  ];
  return [MUTANTS_INTRODUCTION, table.join("\n")];
}

function formatLevel(levels: MatrixCell["levels"]): string {
  const [only] = levels ?? [];
  return only && only.asked > 0 ? `${only.held}/${only.asked}` : "–";
}

const escapeCell = (text: string): string => text.replaceAll("|", "\\|");

function formatServer({ title, checked, findings, notes }: Server, folder: string): string {
  const name = basename(folder);
  const counts = countKinds(findings).map(([kind, count]) => `${count} ${kind}${count === 1 ? "" : "s"}`);
  const serious = findings.filter(isSerious);
  return [
    `### ${title}`,
    "",
    `${
      counts.join(", ")
    }, checked ${checked}: [findings](targets/${name}/findings.json), [target](targets/${name}/).`,
    ...serious.length === 0 && notes.length === 0 ? [] : [""],
    ...serious.map(({ kind, severity, title, rows }) => `- **${kind}**, ${severity}: ${title} (${rows})`),
    ...notes.map(({ title }) => `- ${title} (note)`),
  ].join("\n");
}

const isSerious = ({ severity = "" }: Finding): boolean => /^(medium|high)/.test(severity);

function countKinds(findings: readonly Finding[]): [string, number][] {
  return (["fault", "departure", "choice"] as const).flatMap((kind): [string, number][] => {
    const count = findings.filter((each) => each.kind === kind).length;
    return count === 0 ? [] : [[kind, count]];
  });
}

/** The page to share. */
export function toMatrixPage(targets: readonly TargetFolder[]): string {
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <title>Conformance of OAuth, JSON-RPC, MCP and Skills servers</title>
        <style>${STYLE}
    main { max-width: none } th[scope=col] { vertical-align: bottom; min-width: 6.5rem; max-width: 9rem; overflow-wrap: break-word; font-size: .9rem }
    th[scope=col] small { font-weight: 400; overflow-wrap: normal }
    th[scope=row], th[scope=col]:first-child { position: sticky; left: 0; min-width: 0; background: var(--paper); font-size: .9rem }
    td { text-align: right; font-variant-numeric: tabular-nums } .all { color: var(--good) } .most { color: var(--care) } .few { color: var(--bad) }
    .findings td { text-align: left; vertical-align: top; overflow-wrap: anywhere }
    </style>
      </head>
      <body>
        <header>
          <h1>Conformance of servers</h1>
          <p>MUST rows that are met, of those that were asked. In parentheses: rows of other levels, where no MUST was asked. –: no row was asked. ?: only the total of an older run is known. With a mouse, point at a cell for all levels.</p>
        </header>
        <main>
    ${toMatrices(targets).map(toSection)}
    <section><h2>Findings checked by hand</h2>${targets.flatMap(({ servers }) =>
      servers.map(toFindings)
    )}</section>
        </main>
      </body>
    </html>
  `.text;
}

function toSection({ suite, runs, totals, documents }: Matrix): Markup {
  return html`
    <section>
      <h2>${SUITES[suite]}</h2>
      <table>
        <thead>
          <tr><th scope="col">Document</th>${runs.map((run) =>
            html`
              <th
                scope="col">${toBreakable(run.name)}<small>${toBreakable(
                  nameRun(run).slice(run.name.length).replace(/^,? /, ""),
                )}</small><small>${run.date}</small><small>kit ${run.kit ?? "before 2.0"}</small></th>
            `
          )}</tr>
        </thead>
        <tbody>
    <tr><th scope="row">all documents</th>${totals.map(toCell)}</tr>
    ${documents.map(({ document, cells }) =>
      html`<tr><th scope="row">${document}</th>${cells.map(toCell)}</tr>\n`
    )}</tbody>
      </table>
    </section>
  `;
}

/** Package names may break after a slash or an underscore. */
function toBreakable(name: string): Markup {
  const parts = name.split(/(?<=[/_])/);
  return html`${parts.map((part, at) => at === 0 ? html`${part}` : html`<wbr>${part}`)}`;
}

function toCell(cell: MatrixCell): Markup {
  const { held = 0, asked = 0 } = cell.levels?.find(({ level }) => level === "MUST") ?? {};
  const grade = asked === 0 ? "" : held === asked ? "all" : held >= 0.8 * asked ? "most" : "few";
  return html`<td class="${grade}" title="${describeCell(cell)}">${formatCell(cell)}</td>`;
}

function toFindings({ title, setup, strengths, remarks = [], findings, notes }: Server): Markup {
  return html`
    <details><summary>${title}: ${countKinds(findings).map(([kind, count]) =>
      `${count} ${kind}${count === 1 ? "" : "s"}`
    ).join(", ")}</summary>
    ${[...setup, ...strengths, ...remarks].map((text) => html`<p>${toPlain(text)}</p>\n`)}
    <table class="findings"><thead><tr><th>Finding</th><th>Row</th><th>Sent</th><th>Came back</th><th>Meaning</th></tr></thead><tbody>
    ${findings.map(({ kind, severity, title, rows, sent, received, meaning = "" }) =>
      html`
        <tr>
          <td><b>${kind}</b>${severity !== undefined && `, ${severity}`}: ${toPlain(title)}</td>
          <td>${toPlain(rows)}</td>
          <td>${toPlain(sent)}</td>
          <td>${toPlain(received)}</td>
          <td>${toPlain(meaning)}</td>
        </tr>
      `
    )}</tbody></table>
    ${notes.map(({ title, text }) =>
      html`<h3>${toPlain(title)}</h3>${text.map((each) => html`<p>${toPlain(each)}</p>\n`)}`
    )}</details>
  `;
}

/** Markdown without its marks. */
function toPlain(text: string): string {
  return text.replace(/\[([^\]]*)\]\([^)]*\)/g, "$1").replaceAll("`", "").replaceAll("\\|", "|");
}
