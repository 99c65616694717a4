/**
 * `trivet skill doctor`: what a server would make of folders of skills: which it serves, what they cost a model, what may
 * be better in them, and what it leaves out and why.
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
import { listOption, printLine, type Values } from "../output.ts";
import { plainText } from "../plain_text.ts";
import { showBytes } from "../progress_bar.ts";
import type { SkillCommand } from "./skill_command.ts";
import { openSkillFolders, SKILLS_OPTION } from "./skill_folders.ts";
import type { SkillPlace } from "./skill_place.ts";
import { problemLines, toReported } from "./skill_problems.ts";

/** What is printed with `--json`. */
export interface DoctorReport {
  readonly type: "skill_doctor_report";
  /** In the order in which they count. */
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

const MOST_FOLDERS = 100;

export const doctor: SkillCommand = {
  operands: "[DIR...]",
  most: MOST_FOLDERS,
  options: SKILLS_OPTION,
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
    if (json) printLine(JSON.stringify(report));
    else for (const line of describeReport(report)) printLine(line);
    const { skipped } = report.totals;
    if (skipped > 0) throw new Error(skipped === 1 ? "1 is skipped" : `${skipped} are skipped`);
  },
};

function openFolders(operands: readonly string[], values: Values): readonly SkillFolder[] {
  const paths = operands.length > 0 ? operands : listOption(values, "skills");
  const { folders } = openSkillFolders(
    paths ?? [join(readPlace(values, process.env).folder, "skills")],
    values,
  );
  return folders.map((folder) => existsSync(join(folder.path, "SKILL.md")) ? openOne(folder.path) : folder);
}

/** Of the folder above one skill, that skill. */
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

/** Uploaded skills, where there are any: nothing is made for them. */
async function openStored(values: Values, open: () => Promise<SkillPlace>): Promise<SkillPlace | undefined> {
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
    const uploaded = await stored?.findUploaded(name);
    const problems = [
      ...noted.get(place) ?? [],
      ...frontMatter ? [] : [NOT_LISTED],
      ...uploaded ? [goesBefore(uploaded.id)] : [],
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

/** Clients that find one skill in a list that is not as it should be may refuse the whole list. */
const NOT_LISTED: Problem = {
  file: "SKILL.md",
  line: undefined,
  rule: "not-listed",
  message:
    "It is left out of skills/list and skill:// over MCP and of the public index: its front matter is not as the open specification has it",
  hint: "mend what is said of SKILL.md above",
};

function goesBefore(id: string): Problem {
  return {
    file: "",
    line: undefined,
    rule: "name-uploaded",
    message:
      `An uploaded skill has this name too (${id}): where a name is asked for, the local one goes before it`,
    hint: "ask for the uploaded one by its id, or rename one of the two",
  };
}

function describeReport({ folders, skills, skipped, totals }: DoctorReport): string[] {
  const lines: string[] = [];
  for (const { name, folder, files, size_bytes, tokens, warnings } of skills) {
    const facts = `${tokens.metadata} + ${tokens.instructions} tokens, ${files} ${
      files === 1 ? "file" : "files"
    }, ${showBytes(size_bytes)}`;
    lines.push(
      `${warnings.length > 0 ? "WARNING" : "OK     "}  ${plainText(name)}: ${facts}, ${plainText(folder)}`,
    );
    lines.push(...problemLines(warnings, "         "));
  }
  for (const { place, errors } of skipped) {
    lines.push(`SKIPPED  ${plainText(place)}`, ...problemLines(errors, "         "));
  }
  if (lines.length > 0) lines.push("");
  const { metadata, instructions } = totals.tokens;
  return [
    ...lines,
    `${totals.skills} ${totals.skills === 1 ? "skill" : "skills"} in ${plainText(folders.join(", "))}`,
    `${totals.with_warnings} with warnings, ${totals.skipped} skipped`,
    `about ${metadata} tokens for names and descriptions, ${instructions} for all instructions`,
  ];
}
