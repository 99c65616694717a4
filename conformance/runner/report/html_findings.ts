/**
 * The failures of the HTML report, grouped by cause, and the filters above them. The filters are check boxes that
 * style rules read, because the page has no script.
 *
 * @module
 */
import { toStrength } from "../outcome.ts";
import { html, Markup } from "../target/html.ts";
import { CLASS_TITLES, describeEffect } from "../vector/flags.ts";
import {
  describeCause,
  getCausingRow,
  groupByCause,
  sortFindings,
  summarizeLastExchange,
} from "./findings.ts";
import type { Report, Reported } from "./report.ts";

export const OUTCOME_TEXTS: Readonly<Record<string, string>> = {
  pass: "as expected",
  fail: "a MUST is not met",
  warn: "a SHOULD is not met",
  observe: "a MAY that the server decided otherwise",
  skip: "needs what the target does not declare",
  setup: "the test could not be set up",
  error: "a fault of the kit",
};

/** What the filters read of a failure. */
interface Facets {
  readonly level: string;
  readonly class: string;
  readonly document: string;
}

const NONE = "none";

function getFacets(finding: Reported): Facets {
  const row = finding.class === undefined ? undefined : getCausingRow(finding);
  return {
    level: row ? toStrength(row.level) : NONE,
    class: finding.class ?? NONE,
    document: row?.document ?? NONE,
  };
}

const LABELS: Readonly<Record<string, string>> = { ...CLASS_TITLES, [NONE]: "not tested (setup, error)" };

/** The values of each facet that occur among the failures. */
function listFacets(report: Report): [keyof Facets, string[]][] {
  const all = sortFindings(report).map(getFacets);
  return (["level", "class", "document"] as const).map((facet) => [
    facet,
    [...new Set(all.map((each) => each[facet]))].sort(),
  ]);
}

const toId = (facet: string, value: string): string => `${facet}-${value.replace(/[^\w-]/g, "_")}`;

export function formatFilters(report: Report): Markup | false {
  const facets = listFacets(report).filter(([, values]) => values.length > 1);
  return facets.length > 0 && html`<form class="filters">${
    facets.map(([facet, values]) =>
      html`
        <fieldset>
          <legend>${facet}</legend>${values.map((value) =>
            html`
              <label><input type="checkbox" checked id="${toId(facet, value)}"> ${LABELS[value] ??
                value}</label>
            `
          )}</fieldset>
      `
    )
  }</form>`;
}

/** Hides what a filter has unchecked. */
export function formatFilterStyle(report: Report): Markup {
  const rules = listFacets(report).flatMap(([facet, values]) =>
    values.map((value) =>
      `body:has(#${toId(facet, value)}:not(:checked)) [data-${facet}="${value}"] { display: none }`
    )
  );
  return new Markup(rules.join("\n"));
}

export function formatFindings(report: Report): Markup {
  const { stale } = report;
  const groups = groupByCause(sortFindings(report));
  return html`<section id="findings"><h2>Requirements not met</h2>${
    groups.length === 0 && html`<p>None.</p>`
  }${
    stale.length > 0 &&
    html`<p>Expected failures that pass now: ${stale.join(", ")}. Remove them from the list.</p>`
  }${
    [...Map.groupBy(groups, ([first]) => first!.outcome)].map(([outcome, all]) =>
      html`<h3 class="kind" id="${outcome}">${OUTCOME_TEXTS[outcome]}: ${all.flat().length}</h3>${
        all.map(formatGroup)
      }`
    )
  }</section>`;
}

/** A cause: its first failure in full, the others folded. */
function formatGroup([first, ...others]: readonly Reported[]): Markup {
  const { level, class: failureClass, document } = getFacets(first!);
  return html`
    <div data-level="${level}" data-class="${failureClass}"
      data-document="${document}">${formatFinding(first!)}${others.length > 0 &&
        html`
          <details class="more">
            <summary>${others.length} more with this cause: ${describeCause(first!)}</summary>
            ${others.map(formatFinding)}
          </details>
        `}</div>
  `;
}

function formatFinding(finding: Reported): Markup {
  const { name, title, outcome, step, reason = "", rows, harm, expected, exchanges, repeat } = finding;
  const { request, body, answer } = summarizeLastExchange(finding);
  const kind = finding.class === undefined ? "" : ` (${CLASS_TITLES[finding.class]})`;
  return html`
    <article class="${outcome}"
      id="${name}"><h4><span class="word">${outcome}${kind}</span> ${title}</h4>
    <p><code>${name}</code>${expected !== undefined && html`, expected: ${expected}`}</p>
    <dl>${request !== undefined && html`
      <dt>Request</dt>
      <dd><code>${request}</code>${body !== undefined &&
        html`<br><code>${body}</code>`}${step !== undefined &&
        !/^step \d+$/.test(step) && html`<small>step: ${step}</small>`}</dd>
    `}${answer !== undefined && html`
      <dt>Response</dt>
      <dd><code>${answer}</code></dd>
    `}
    <dt>Difference</dt><dd class="reason">${reason}</dd>
    <dt>Requirement</dt><dd><ul>${rows.map((row) =>
      html`<li><a href="${row.link}">${row.id}</a> ${row.level}: ${row.text}</li>`
    )}</ul></dd>${harm.length > 0 && html`
      <dt>Observed impact</dt>
      <dd>${describeEffect(harm)}</dd>
    `}<dt>Run again</dt><dd><code>${repeat}</code></dd></dl>
    ${exchanges.length > 0 &&
      html`<details><summary>${exchanges.length} full exchange${exchanges.length > 1 && "s"}</summary>${
        exchanges.map(({ step, request, answer, curl }) =>
          html`
            <p>${step}</p>
            <pre tabindex="0" class="out">${request}</pre>
            <pre tabindex="0" class="in">${answer}</pre>${curl !== undefined &&
              html`<pre tabindex="0">${curl}</pre>`}
          `
        )
      }</details>`}</article>
  `;
}
