/**
 * `trivet skill validate`: everything that an upload would be refused for or warned of; nothing is stored.
 *
 * @module
 */
import type { ValidationReport } from "../../../skills/package/validation_report.ts";
import { printLine, UsageError } from "../output.ts";
import { plainText } from "../plain_text.ts";
import { showBytes, withProgressBar } from "../progress_bar.ts";
import { checkSource, UPLOAD_LIMIT } from "./skill_check.ts";
import type { SkillCommand } from "./skill_command.ts";
import { countRules, problemLines } from "./skill_problems.ts";
import { openSource } from "./skill_source.ts";

export const validate: SkillCommand = {
  operands: "FOLDER|ZIP",
  most: 1,
  options: {},
  async run({ values, operands: [path], json, terminal, open }) {
    if (path === undefined) throw new UsageError("Name the folder or archive to look at");
    const source = await openSource(path);
    // The rules need no store.
    const place = values.url === undefined ? undefined : await open();
    const report = await withProgressBar(
      "checking",
      terminal,
      (progress) => place ? place.validate(source, progress) : checkSource(source, UPLOAD_LIMIT, progress),
    );
    if (json) printLine(JSON.stringify(report));
    else for (const line of describeReport(path, report)) printLine(line);
    if (!report.valid) throw new Error(`"${path}" would be refused: ${countRules(report.errors)}`);
  },
};

function describeReport(path: string, report: ValidationReport): string[] {
  const { valid, name, files, size_bytes, tokens, errors, warnings } = report;
  const facts = [`${files} ${files === 1 ? "file" : "files"}, ${showBytes(size_bytes)}`];
  if (tokens) {
    facts.push(`about ${tokens.metadata} tokens always, ${tokens.instructions} more when it is loaded`);
  }
  const lines = [
    `${name === null ? path : plainText(name)}: ${valid ? "valid" : "not valid"}; ${facts.join("; ")}`,
  ];
  if (errors.length > 0) lines.push("errors:", ...problemLines(errors));
  if (warnings.length > 0) lines.push("warnings:", ...problemLines(warnings));
  return lines;
}
