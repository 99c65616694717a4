/**
 * The report as one HTML page that needs nothing beside it: verdict, coverage by document and section, what was not as
 * expected with its exchanges, every vector. No script, nothing loaded, secrets masked.
 *
 * @module
 */
import type { Figures, RowResult } from "./coverage.ts";
import { effect } from "../vector/flag.ts";
import { html, type Markup } from "../target/html.ts";
import { findingsOf, lastExchange, type Report, type Reported, sharing } from "./report.ts";
import { STYLE } from "./report_style.ts";
import { toSummary } from "./report_summary.ts";

const WORDS: Readonly<Record<string, string>> = {
  pass: "as expected",
  fail: "a MUST does not hold",
  warn: "a SHOULD does not hold",
  observe: "a MAY was decided otherwise",
  skip: "not claimed by the target",
  setup: "could not be asked",
  error: "the kit is wrong",
};

export function toHtml(report: Report): string {
  const { target, started, suites, passed, asked } = report;
  const title = `${target.name}: ${suites.join(", ")}`;
  return html`
    <!doctype html>
    <html lang="en">
      <head>
        <meta charset="utf-8">
        <meta name="viewport" content="width=device-width, initial-scale=1">
        <meta name="color-scheme" content="light dark">
        <title>${title}</title>
        <style>${STYLE}</style>
      </head>
      <body>
        <header>
    <p class="verdict ${passed ? "good" : "bad"}">${asked === 0
      ? "Nothing was asked"
      : passed
      ? "As expected"
      : "Not as expected"}</p>
    <h1>${target.name} ${target.version}</h1>
    <p>${suites.join(", ")} at ${target.base}, ${started.toISOString().slice(0, 16).replace(
      "T",
      " ",
    )} UTC, ${report.vectors.length} vectors in ${report.seconds.toFixed(1)} s, seed <code>${report
      .seed}</code></p>
    ${target.notes && html`
      <p>It says no <code>features</code>. What it shows:</p>
      <ul>${target.notes.map((each) => html`<li>${each}</li>`)}</ul>
    `}
    ${counts(report)}
        </header>
        <main>
    ${findings(report)}
    ${coverage(report)}
    ${notAsked(report)}
    ${everything(report)}
    <section><h2>To share</h2><details><summary>The same in Markdown</summary><pre tabindex="0">${toSummary(
      report,
    )}</pre></details></section>
        </main>
      </body>
    </html>
  `.text;
}

function counts({ summary }: Report): Markup {
  const all = Object.entries(summary).filter(([, count]) => count > 0);
  return html`<ul class="counts">${
    all.map(([word, count]) =>
      html`
        <li
          class="${word}"><a href="#${word === "pass"
            ? "all"
            : word === "skip"
            ? "not-asked"
            : word}"><strong>${count}</strong> ${word}</a><small>${WORDS[word]}</small></li>
      `
    )
  }</ul>`;
}

function coverage({ figures, rows }: Report): Markup {
  const documents = Map.groupBy(figures, ({ document }) => document);
  return html`<section><h2>Coverage</h2>
<p>Of each document: the rows that it demands, how many were asked, and how many hold. A row holds when every vector that asked about it passed.</p>
<table><thead><tr><th scope="col">Document</th><th scope="col">Level</th><th scope="col" class="n">Rows</th><th scope="col" class="n">Asked</th><th scope="col" class="n">Hold</th><th scope="col" class="n">Do not</th><th scope="col" class="n">Skipped</th><th scope="col" class="n">Excluded</th><th scope="col">Held of what can be asked</th></tr></thead>
<tbody>${figures.map(figureRow)}</tbody></table>
${
    [...documents.keys()].map((document) =>
      sections(document, rows.filter(({ row }) => row.document === document))
    )
  }</section>`;
}

function figureRow(each: Figures): Markup {
  const { document, strength, rows, asked, held, broken, skipped, excluded } = each;
  const possible = rows - excluded;
  return html`
    <tr>
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

const STATES: Readonly<Record<RowResult["state"], string>> = {
  held: "holds",
  broken: "does not hold",
  skipped: "skipped",
  excluded: "excluded",
  unasked: "not asked",
};

function sections(document: string, rows: readonly RowResult[]): Markup {
  const bySection = Map.groupBy(rows, ({ row }) => /#(.*)\//.exec(row.id)?.[1] ?? "");
  return html`<details><summary>${document} by section</summary>${
    [...bySection].map(([section, all]) =>
      html`
        <h3>${document}, section ${section}</h3>
        <ul class="rows">${all.map(({ row, state, vectors }) =>
          html`
            <li
              class="${state}"><b>${STATES[state]}</b> <a href="${row.link}">${row.id}</a> ${row.level}: ${row
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

function findings(report: Report): Markup {
  const { stale } = report;
  const groups = sharing(findingsOf(report));
  return html`<section id="findings"><h2>Not as the documents say</h2>${
    groups.length === 0 && html`<p>Nothing.</p>`
  }${stale.length > 0 && html`<p>Listed as known failures, but they pass now: ${stale.join(", ")}.</p>`}${
    [...Map.groupBy(groups, ([first]) => first!.outcome)].map(([outcome, all]) =>
      html`<h3 class="kind" id="${outcome}">${WORDS[outcome]}: ${all.flat().length}</h3>${
        all.map((group) => finding(group, report))
      }`
    )
  }</section>`;
}

function finding([first, ...others]: readonly Reported[], { seed }: Report): Markup {
  const { name, title, outcome, step, reason = "", rows, flags, expected, exchanges } = first!;
  const [request, answer] = lastExchange(first!);
  return html`<article class="${outcome}" id="${name}"><h4><span class="word">${outcome}</span> ${title}</h4>
<p><code>${name}</code>${expected !== undefined && html`, expected: ${expected}`}</p>
<dl>${
    request !== undefined && html`
      <dt>Asked</dt>
      <dd><code>${request}</code>${step !== undefined && !/^step \d+$/.test(step) &&
        html`<small>step: ${step}</small>`}</dd>
    `
  }${
    answer !== undefined && html`
      <dt>Came</dt>
      <dd><code>${answer}</code></dd>
    `
  }
<dt>Differs</dt><dd class="reason">${reason}</dd>
<dt>The document</dt><dd><ul>${
    rows.map((row) => html`<li><a href="${row.link}">${row.id}</a> ${row.level}: ${row.text}</li>`)
  }</ul></dd>${
    flags.length > 0 && outcome !== "setup" && html`
      <dt>It matters</dt>
      <dd>${effect(flags)}</dd>
    `
  }<dt>Ask again</dt><dd><code>--only ${name} --verbose --seed ${seed}</code></dd></dl>
${
    others.length > 0 &&
    html`
      <details>
        <summary>${others.length} more for the same reason</summary>
        <ul>${others.map((each) => html`<li>${each.title} <small>${each.name}</small></li>`)}</ul>
      </details>
    `
  }
${
    exchanges.length > 0 &&
    html`<details><summary>${exchanges.length} exchange${exchanges.length > 1 && "s"}, whole</summary>${
      exchanges.map(({ step, request, answer }) =>
        html`
          <p>${step}</p>
          <pre tabindex="0" class="out">${request}</pre>
          <pre tabindex="0" class="in">${answer}</pre>
        `
      )
    }</details>`
  }</article>`;
}

function notAsked({ vectors, asked, lacks }: Report): Markup | false {
  return lacks.length > 0 && html`
    <section id="not-asked">
      <h2>Not asked</h2>
      <p>${vectors.length - asked} of ${vectors
        .length} vectors were skipped: the target does not have, or its file does not say, what they need. Add what it has to the target file, and they are asked.</p>
      <table class="needs">
        <thead>
          <tr>
            <th scope="col" class="n">Vectors</th>
            <th scope="col">Need</th>
            <th scope="col">What it is</th>
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

function everything({ vectors }: Report): Markup {
  const files = Map.groupBy(vectors, ({ name }) => name.split("/").slice(0, 2).join("/"));
  return html`<section id="all"><h2>Every vector</h2>${
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
