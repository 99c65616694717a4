/**
 * Writes the report as one self-contained HTML page: result, coverage by document and section, failures with
 * their exchanges, and every vector. No script, no external resource, secrets masked.
 *
 * @module
 */
import type { Figures, RowResult } from "./coverage.ts";
import { html, type Markup } from "../target/html.ts";
import { formatFilters, formatFilterStyle, formatFindings, OUTCOME_TEXTS } from "./html_findings.ts";
import type { Report } from "./report.ts";
import { STYLE } from "./report_style.ts";
import { toSummary } from "./report_summary.ts";

export function toHtml(report: Report): string {
  const { target, started, suites, passed, kit, rowCounts, shortfall } = report;
  const title = `${target.name}: ${suites.join(", ")}`;
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>${title}</title>
        <style>${STYLE}${formatFilterStyle(report)}</style>
      </head>
      <body>
        <header>
    <p class="verdict ${passed ? "good" : "bad"}">${shortfall
      ? `${shortfall.text}. ${shortfall.advice}`
      : passed
      ? "As expected"
      : "Not as expected"}</p>
    <h1>${target.name} ${target.version}</h1>
    <p>${suites.join(", ")} at ${target.base}, ${started.toISOString().slice(0, 16).replace(
      "T",
      " ",
    )} UTC, ${report.vectors.length} vectors in ${report.seconds.toFixed(1)} s, seed <code>${report
      .seed}</code></p>
    <p>Requirement rows: <strong>${rowCounts.asked}</strong> of ${rowCounts.total} asked, ${rowCounts
      .met} met. Kit ${kit
      .version}, vectors <code>${kit.digest}</code></p>
    ${target.notes && html`
      <p>No <code>features</code> are declared. Detected:</p>
      <ul>${target.notes.map((each) => html`<li>${each}</li>`)}</ul>
    `}
    ${formatCounts(report)}
        </header>
        <main>
    ${formatFilters(report)}
    ${formatFindings(report)}
    ${formatCoverage(report)}
    ${formatSkipped(report)}
    ${formatAllVectors(report)}
    <section><h2>Summary to share</h2><details><summary>Show as Markdown</summary><pre tabindex="0">${toSummary(
      report,
    )}</pre></details></section>
        </main>
      </body>
    </html>
  `.text;
}

function formatCounts({ summary }: Report): Markup {
  const all = Object.entries(summary).filter(([, count]) => count > 0);
  return html`<ul class="counts">${
    all.map(([word, count]) =>
      html`
        <li
          class="${word}"><a href="#${word === "pass"
            ? "all"
            : word === "skip"
            ? "skipped"
            : word}"><strong>${count}</strong> ${word}</a><small>${OUTCOME_TEXTS[word]}</small></li>
      `
    )
  }</ul>`;
}

function formatCoverage({ figures, rows }: Report): Markup {
  const documents = Map.groupBy(figures, ({ document }) => document);
  return html`<section><h2>Coverage</h2>
<p>For each document: the number of requirement rows, how many were tested, and how many are met. A row is met if a vector that covers it passed and none failed on it.</p>
<table><thead><tr><th scope="col">Document</th><th scope="col">Level</th><th scope="col" class="n">Rows</th><th scope="col" class="n">Tested</th><th scope="col" class="n">Met</th><th scope="col" class="n">Not met</th><th scope="col" class="n">Skipped</th><th scope="col" class="n">Excluded</th><th scope="col">Met of testable rows</th></tr></thead>
<tbody>${figures.map(formatCoverageRow)}</tbody></table>
${
    [...documents.keys()].map((document) =>
      formatSections(document, rows.filter(({ row }) => row.document === document))
    )
  }</section>`;
}

function formatCoverageRow(each: Figures): Markup {
  const { document, strength, rows, asked, held, broken, skipped, excluded } = each;
  const possible = rows - excluded;
  return html`
    <tr data-document="${document}">
      <td>${document}</td>
      <td>${strength}</td>
      <td class="n">${rows}</td>
      <td class="n">${asked}</td>
      <td class="n">${held}</td>
      <td class="n">${broken}</td>
      <td class="n">${skipped}</td>
      <td class="n">${excluded}</td>
      <td><meter min="0" max="${Math.max(
        possible,
        1,
      )}" value="${held}" aria-label="${document} ${strength}: ${held} of ${possible}"></meter> ${possible ===
          0
        ? ""
        : `${Math.floor(100 * held / possible)} %`}</td>
    </tr>
  `;
}

const ROW_STATE_TEXTS: Readonly<Record<RowResult["state"], string>> = {
  held: "met",
  broken: "not met",
  skipped: "skipped",
  excluded: "excluded",
  unasked: "not tested",
};

function formatSections(document: string, rows: readonly RowResult[]): Markup {
  const bySection = Map.groupBy(rows, ({ row }) => /#(.*)\//.exec(row.id)?.[1] ?? "");
  return html`<details data-document="${document}"><summary>${document} by section</summary>${
    [...bySection].map(([section, all]) =>
      html`
        <h3>${document}, section ${section}</h3>
        <ul class="rows">${all.map(({ row, state, vectors }) =>
          html`
            <li
              class="${state}"><b>${ROW_STATE_TEXTS[state]}</b> <a href="${row.link}">${row.id}</a> ${row
                .level}: ${row
                .text}${row.excluded !== undefined && state === "excluded" && html`
                <i>${row.excluded}</i>
              `}${vectors.length > 0 &&
                html`<small>${
                  vectors.map(({ name, outcome }) => `${name} (${outcome})`).join(", ")
                }</small>`}</li>
          `
        )}</ul>
      `
    )
  }</details>`;
}

function formatSkipped({ vectors, asked, lacks }: Report): Markup | false {
  return lacks.length > 0 && html`
    <section id="skipped">
      <h2>Skipped vectors</h2>
      <p>${vectors.length - asked} of ${vectors
        .length} vectors were skipped because the target file does not declare what they need. If the server supports it, add it to the target file.</p>
      <table class="needs">
        <thead>
          <tr>
            <th scope="col" class="n">Vectors</th>
            <th scope="col">Need</th>
            <th scope="col">Description</th>
          </tr>
        </thead>
        <tbody>${lacks.map(({ count, name, text }) =>
          html`
            <tr>
              <td class="n">${count}</td>
              <td>${name}</td>
              <td>${text}</td>
            </tr>
          `
        )}</tbody>
      </table>
    </section>
  `;
}

function formatAllVectors({ vectors }: Report): Markup {
  const files = Map.groupBy(vectors, ({ name }) => name.split("/").slice(0, 2).join("/"));
  return html`<section id="all"><h2>All vectors</h2>${
    [...files].map(([file, all]) =>
      html`
        <details>
          <summary>${file} (${all.length})</summary>
          <ul class="rows">${all.map(({ outcome, name, title }) =>
            html`<li class="${outcome}"><b>${outcome}</b> ${title} <small>${name}</small></li>`
          )}</ul>
        </details>
      `
    )
  }</section>`;
}
