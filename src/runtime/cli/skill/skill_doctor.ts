/**
 * `trivet skill doctor`: which skills of folders a server serves, what they cost a model in tokens, their warnings, and
 * which it skips and why.
 *
 * @module
 */
import { existsSync } from "node:fs";
import { basename, dirname, join, resolve } from "node:path";
import process from "node:process";
import { type Diagnostic, type LocalSkill, openDirectory } from "../../../skills/local/directory.ts";
import type { SkillFolder } from "../../../skills/local/folder.ts";
import type { Problem } from "../../../skills/package/problem.ts";
import type { ReportedProblem } from "../../../skills/package/validation_report.ts";
import { skillFolder } from "../../skill_folder.ts";
import { isShared, readPlace } from "../data.ts";
import type { ValuesOf } from "../options.ts";
import { printJson, printLine } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { formatBytes } from "../progress_bar.ts";
import { COMMON_OPTIONS, type SkillCommand, skillCommand } from "./skill_command.ts";
import { openSkillFolders, SKILL_FOLDER_OPTIONS } from "./skill_folders.ts";
import { findUploaded, type SkillPlace } from "./skill_place.ts";
import { describeProblems, toReported } from "./skill_problems.ts";

/** What is printed with `--json`. */
export interface DoctorReport {
  readonly type: "skill_doctor_report";
  /** In order of precedence. */
  readonly folders: readonly string[];
  readonly skills: readonly {
    readonly name: string;
    readonly id: string;
    readonly version: string;
    readonly folder: string;
    readonly files: number;
    readonly size_bytes: number;
    readonly tokens: { readonly metadata: number; readonly instructions: number };
    readonly warnings: readonly ReportedProblem[];
  }[];
  readonly skipped: readonly { readonly place: string; readonly errors: readonly ReportedProblem[] }[];
  readonly totals: {
    readonly skills: number;
    readonly with_warnings: number;
    readonly skipped: number;
    /** Of all skills together. */
    readonly tokens: { readonly metadata: number; readonly instructions: number };
  };
}

export const doctor: SkillCommand = skillCommand({
  operands: "[DIR...]",
  summary: "lists which skills of folders are served, which not, and why; exit code 1 if one is not",
  options: SKILL_FOLDER_OPTIONS,
  async run({ values, operands, json, open }) {
    const folders = openFolders(operands, values);
    const directory = openDirectory(folders, Date.now);
    const skills = await directory.skills();
    const report = await reportOn(
      folders,
      skills,
      await directory.diagnostics(),
      await openStored(values, open),
    );
    if (json) printJson(report);
    else for (const line of describeReport(report)) printLine(line);
    const { skipped } = report.totals;
    if (skipped > 0) throw new Error(`${skipped} skipped`);
  },
});

type DoctorValues = ValuesOf<typeof SKILL_FOLDER_OPTIONS & typeof COMMON_OPTIONS>;

function openFolders(operands: readonly string[], values: DoctorValues): readonly SkillFolder[] {
  const paths = operands.length > 0 ? operands : values.skills;
  const { folders } = openSkillFolders(
    paths ?? [join(readPlace(values, process.env).folder, "skills")],
    values,
  );
  return folders.map((folder) => existsSync(join(folder.path, "SKILL.md")) ? openOne(folder.path) : folder);
}

/** The folder that contains a skill, with only that skill in it. */
function openOne(path: string): SkillFolder {
  const name = basename(resolve(path));
  const above = skillFolder(dirname(path), { followLinks: true });
  return {
    ...above,
    async list(relative) {
      const entries = await above.list(relative);
      return relative === "" ? entries?.filter((entry) => entry.name === name) : entries;
    },
  };
}

/** The uploaded skills, if there is a store: none is created. */
async function openStored(
  values: DoctorValues,
  open: () => Promise<SkillPlace>,
): Promise<SkillPlace | undefined> {
  if (values.url !== undefined) return await open();
  const place = readPlace(values, process.env);
  return isShared(place) || existsSync(join(place.folder, "trivet.db")) ? await open() : undefined;
}

async function reportOn(
  folders: readonly SkillFolder[],
  skills: readonly LocalSkill[],
  diagnostics: readonly Diagnostic[],
  stored: SkillPlace | undefined,
): Promise<DoctorReport> {
  const noted = new Map(
    diagnostics.filter(({ skipped }) => !skipped).map(({ where, problems }) => [where, problems]),
  );
  const shown: DoctorReport["skills"][number][] = [];
  for (const { name, id, version, folder, directory, files, tokens, frontMatter } of skills) {
    const place = `${folder.path}/${directory}`;
    const uploaded = stored && await findUploaded(stored, name);
    const problems = [
      ...noted.get(place) ?? [],
      ...frontMatter ? [] : [NOT_LISTED],
      ...uploaded ? [nameUploaded(uploaded.id)] : [],
    ];
    shown.push({
      name,
      id,
      version,
      folder: place,
      files: files.length,
      size_bytes: files.reduce((sum, { size }) => sum + size, 0),
      tokens,
      warnings: problems.map(toReported),
    });
  }
  const skipped = diagnostics
    .filter(({ skipped }) => skipped)
    .map(({ where, problems }) => ({ place: where, errors: problems.map(toReported) }));
  const sum = (level: "metadata" | "instructions"): number =>
    skills.reduce((sum, { tokens }) => sum + tokens[level], 0);
  return {
    type: "skill_doctor_report",
    folders: folders.map(({ path }) => path),
    skills: shown,
    skipped,
    totals: {
      skills: shown.length,
      with_warnings: shown.filter(({ warnings }) => warnings.length > 0).length,
      skipped: skipped.length,
      tokens: { metadata: sum("metadata"), instructions: sum("instructions") },
    },
  };
}

/** A client that finds one invalid skill in a list may refuse the whole list. */
const NOT_LISTED: Problem = {
  file: "SKILL.md",
  line: undefined,
  rule: "not-listed",
  message:
    "Not listed by skills/list and skill:// over MCP, nor in the public index: its front matter does not follow the Agent Skills specification",
  hint: "correct the problems of SKILL.md above",
};

function nameUploaded(id: string): Problem {
  return {
    file: "",
    line: undefined,
    rule: "name-uploaded",
    message: `An uploaded skill has the same name (${id}): requests by name get the local skill`,
    hint: "request the uploaded skill by its id, or rename one of the two",
  };
}

function describeReport({ folders, skills, skipped, totals }: DoctorReport): string[] {
  const lines: string[] = [];
  for (const { name, folder, files, size_bytes, tokens, warnings } of skills) {
    const facts = `${tokens.metadata} + ${tokens.instructions} tokens, ${files} ${
      files === 1 ? "file" : "files"
    }, ${formatBytes(size_bytes)}`;
    lines.push(
      `${warnings.length > 0 ? "WARNING" : "OK     "}  ${printableText(name)}: ${facts}, ${
        printableText(folder)
      }`,
    );
    lines.push(...describeProblems(warnings, "         "));
  }
  for (const { place, errors } of skipped) {
    lines.push(`SKIPPED  ${printableText(place)}`, ...describeProblems(errors, "         "));
  }
  if (lines.length > 0) lines.push("");
  const { metadata, instructions } = totals.tokens;
  return [
    ...lines,
    `${totals.skills} ${totals.skills === 1 ? "skill" : "skills"} in ${printableText(folders.join(", "))}`,
    `${totals.with_warnings} with warnings, ${totals.skipped} skipped`,
    `about ${metadata} tokens for names and descriptions, ${instructions} for all instructions`,
  ];
}
