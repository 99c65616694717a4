/**
 * A summary to share, in Markdown: what was run, against what, figures, and what is not as the documents ask.
 *
 * @module
 */
import type { Report } from "./report.ts";

export function toSummary(report: Report): string {
  const { target, started, vectors, summary, figures, suites, passed } = report;
  const version = target.version === undefined ? "" : ` ${target.version}`;
  const told = vectors.filter(({ outcome }) => outcome !== "pass" && outcome !== "skip");
  return [
    `# ${escape(target.name + version)}: ${suites.join(", ")}`,
    "",
    `${started.toISOString().slice(0, 10)}, ${vectors.length} vectors: ${
      Object.entries(summary).filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word}`)
        .join(", ")
    }. ${passed ? "As expected." : "Not as expected."}`,
    "",
    "| document | level | rows | asked | held |",
    "| --- | --- | ---: | ---: | ---: |",
    ...figures.map((each) =>
      `| ${each.document} | ${each.strength} | ${each.rows} | ${each.asked} | ${each.held} |`
    ),
    "",
    ...told.map(({ outcome, name, title, reason = "", rows, expected }) =>
      `- **${outcome}** \`${name}\`: ${escape(title)}. ${escape(reason)} ${
        rows.map(({ id, link }) => `[${id}](${link})`).join(", ")
      }${expected === undefined ? "" : ` Expected: ${escape(expected)}`}`
    ),
    "",
  ].join("\n");
}

function escape(text: string): string {
  return text.replace(/[\\`*_{}[\]<>|#]/g, "\\$&").replaceAll("\n", " ");
}
