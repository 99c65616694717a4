/**
 * A summary to share, in Markdown: what was run, against what, figures, and what is not as the documents ask.
 *
 * @module
 */
import { findingsOf, type Report, sharing } from "./report.ts";

export function toSummary(report: Report): string {
  const { target, started, vectors, summary, figures, suites, passed, asked } = report;
  const version = target.version === undefined ? "" : ` ${target.version}`;
  const groups = sharing(findingsOf(report));
  const touched = new Set(figures.filter((each) => each.asked > 0).map(({ document }) => document));
  return [
    `# ${escape(target.name + version)}: ${suites.join(", ")}`,
    "",
    `${started.toISOString().slice(0, 10)}, ${vectors.length} vectors: ${
      Object.entries(summary).filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word}`)
        .join(", ")
    }. ${asked === 0 ? "Nothing was asked." : passed ? "As expected." : "Not as expected."}`,
    "",
    "| document | level | rows | asked | held |",
    "| --- | --- | ---: | ---: | ---: |",
    ...figures.filter(({ document }) => touched.has(document)).map((each) =>
      `| ${each.document} | ${each.strength} | ${each.rows} | ${each.asked} | ${each.held} |`
    ),
    "",
    ...groups.map(([first, ...others]) => {
      const { outcome, name, title, reason = "", rows, expected } = first!;
      const more = others.length === 0 ? "" : ` (and ${others.length} more for the same reason)`;
      return `- **${outcome}** \`${name}\`${more}: ${escape(title)}. ${escape(reason)} ${
        rows.map(({ id, link }) => `[${id}](${link})`).join(", ")
      }${expected === undefined ? "" : ` Expected: ${escape(expected)}`}`;
    }),
    "",
  ].join("\n");
}

function escape(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|#]/g, "\\$&").replaceAll("\n", " ");
}
