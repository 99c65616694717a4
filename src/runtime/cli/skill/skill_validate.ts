/**
 * `trivet skill validate`: lists every problem that an upload would be refused for or warned of. Stores nothing.
 *
 * @module
 */
import type { ValidationReport } from "../../../skills/package/validation_report.ts";
import { printJson, printLine } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { formatBytes, withProgressBar } from "../progress_bar.ts";
import { checkSource, MAX_UPLOAD_BYTES } from "./skill_check.ts";
import { type SkillCommand, skillCommand } from "./skill_command.ts";
import { countProblems, describeProblems } from "./skill_problems.ts";
import { openSource, printExcluded } from "./skill_source.ts";

export const validate: SkillCommand = skillCommand({
  operands: "FOLDER|ZIP",
  summary: "lists what an upload would be refused for or warned of; exit code 1 for an error",
  options: {},
  async run({ values, operands, json, terminal, open }) {
    const path = operands[0]!;
    const source = await openSource(path);
    printExcluded(source);
    // The rules do not need a store.
    const place = values.url === undefined ? undefined : await open();
    const report = await withProgressBar(
      "checking",
      terminal,
      (progress) =>
        place ? place.validate(source, progress) : checkSource(source, MAX_UPLOAD_BYTES, progress),
    );
    if (json) printJson(report);
    else for (const line of describeReport(path, report)) printLine(line);
    if (!report.valid) throw new Error(`Invalid skill package "${path}": ${countProblems(report.errors)}`);
  },
});

function describeReport(path: string, report: ValidationReport): string[] {
  const { valid, name, files, size_bytes, tokens, errors, warnings } = report;
  const facts = [`${files} ${files === 1 ? "file" : "files"}, ${formatBytes(size_bytes)}`];
  if (tokens) {
    facts.push(`about ${tokens.metadata} tokens always, ${tokens.instructions} more when it is loaded`);
  }
  const lines = [
    `${name === null ? path : printableText(name)}: ${valid ? "valid" : "not valid"}; ${facts.join("; ")}`,
  ];
  if (errors.length > 0) lines.push("errors:", ...describeProblems(errors));
  if (warnings.length > 0) lines.push("warnings:", ...describeProblems(warnings));
  return lines;
}
