/**
 * Writes a short summary in Markdown: the target, the figures, and the requirements that are not met.
 *
 * @module
 */
import { groupByCause, sortFindings } from "./findings.ts";
import type { Report } from "./report.ts";

export function toSummary(report: Report): string {
  const { target, started, vectors, summary, figures, suites, passed, kit, rowCounts, shortfall } = report;
  const version = target.version === undefined ? "" : ` ${target.version}`;
  const groups = groupByCause(sortFindings(report));
  const touched = new Set(figures.filter((each) => each.asked > 0).map(({ document }) => document));
  return [
    `# ${escape(target.name + version)}: ${suites.join(", ")}`,
    "",
    `${started.toISOString().slice(0, 10)}, ${vectors.length} vectors: ${
      Object.entries(summary).filter(([, count]) => count > 0).map(([word, count]) => `${count} ${word}`)
        .join(", ")
    }. ${shortfall ? `${shortfall.text}.` : passed ? "As expected." : "Not as expected."}`,
    `Requirement rows: ${rowCounts.asked} of ${rowCounts.total} asked, ${rowCounts.met} met. Kit ${kit.version}, vectors \`${kit.digest}\`.`,
    "",
    "| document | level | rows | tested | met |",
    "| --- | --- | ---: | ---: | ---: |",
    ...figures.filter(({ document }) => touched.has(document)).map((each) =>
      `| ${each.document} | ${each.strength} | ${each.rows} | ${each.asked} | ${each.held} |`
    ),
    "",
    ...groups.map(([first, ...others]) => {
      const { outcome, name, title, reason = "", rows, expected } = first!;
      const more = others.length === 0 ? "" : ` (and ${others.length} more with this cause)`;
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
