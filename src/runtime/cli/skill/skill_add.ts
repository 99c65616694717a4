/**
 * `trivet skill add`: uploads a folder or an archive as a new skill, or as a new version of a skill.
 *
 * @module
 */
import { printError, printLine, UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { NO_PROGRESS, withProgressBar } from "../progress_bar.ts";
import { checkSource } from "./skill_check.ts";
import { type SkillCommand, skillCommand } from "./skill_command.ts";
import type { SkillPlace } from "./skill_place.ts";
import { describeProblems } from "./skill_problems.ts";
import { MAX_SOURCE_BYTES, openSource, type SkillSource } from "./skill_source.ts";

export const add: SkillCommand = skillCommand({
  operands: "FOLDER|ZIP",
  maxOperands: 1,
  options: {
    skill: { value: "ID", summary: "add a version to the skill with this id" },
    "as-version": { summary: "add a version to the newest skill that has the name in SKILL.md" },
    "display-name": { value: "NAME", summary: "the label of a new skill", shownDefault: "the skill's name" },
  },
  async run({ values, operands: [path], json, terminal, open }) {
    if (path === undefined) throw new UsageError("missing argument: FOLDER or ZIP to add");
    const { skill: id, "as-version": asVersion, "display-name": displayName } = values;
    if (id !== undefined && asVersion) throw new UsageError("--skill and --as-version exclude each other");
    if (displayName !== undefined && (id !== undefined || asVersion)) {
      throw new UsageError("--display-name is only for a new skill: its versions keep the label");
    }
    const source = await openSource(path);
    const place = await open();
    const skill = asVersion ? await findByPackage(place, source) : id;
    const added = await withProgressBar(
      "uploading",
      terminal,
      (progress) => place.add({ source, skill, displayName }, progress),
    );
    if (added.warnings.length > 0) {
      printError("Added with warnings:");
      for (const line of describeProblems(added.warnings)) printError(line);
    }
    if (json) return printLine(JSON.stringify({ ...added.skill, version: added.version }));
    const { skill: { id: made, name, display_name }, version } = added;
    const what = `${printableText(name ?? display_name ?? "skill")} (${printableText(made)})`;
    const which = version === null ? "" : `, version ${printableText(version.id)}`;
    printLine(skill === undefined ? `Added ${what}${which}` : `Added a version to ${what}${which}`);
  },
});

/** The id of the newest skill that has the package's name. */
async function findByPackage(place: SkillPlace, source: SkillSource): Promise<string> {
  const { name, errors } = await checkSource(source, MAX_SOURCE_BYTES, NO_PROGRESS);
  if (name === null) {
    throw new Error(
      ["SKILL.md has no valid name to find the skill by:", ...describeProblems(errors)].join("\n"),
    );
  }
  const found = await place.findUploaded(name);
  if (found) return found.id;
  throw new Error(`Skill not found: "${printableText(name)}". Leave out --as-version to add a new skill`);
}
