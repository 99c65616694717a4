/**
 * `trivet skill add`: a folder or an archive becomes a new skill, or, where that is asked for, the next version of one.
 *
 * @module
 */
import { printError, printLine, textOption, UsageError } from "../output.ts";
import { plainText } from "../plain_text.ts";
import { NO_PROGRESS, withProgressBar } from "../progress_bar.ts";
import { checkSource } from "./skill_check.ts";
import type { SkillCommand } from "./skill_command.ts";
import type { SkillPlace } from "./skill_place.ts";
import { problemLines } from "./skill_problems.ts";
import { MOST_BYTES, openSource, type SkillSource } from "./skill_source.ts";

export const add: SkillCommand = {
  operands: "FOLDER|ZIP",
  most: 1,
  options: {
    skill: { type: "string" },
    "as-version": { type: "boolean" },
    "display-name": { type: "string" },
  },
  async run({ values, operands: [path], json, terminal, open }) {
    if (path === undefined) throw new UsageError("Name the folder or archive to add");
    const displayName = textOption(values, "display-name");
    const id = textOption(values, "skill");
    const asVersion = values["as-version"] === true;
    if (id !== undefined && asVersion) throw new UsageError("--skill and --as-version exclude each other");
    if (displayName !== undefined && (id !== undefined || asVersion)) {
      throw new UsageError("--display-name is for a new skill: its versions keep it");
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
      printError("Taken, but its author may want to know:");
      for (const line of problemLines(added.warnings)) printError(line);
    }
    if (json) return printLine(JSON.stringify({ ...added.skill, version: added.version }));
    const { skill: { id: made, name, display_name }, version } = added;
    const what = `${plainText(name ?? display_name ?? "skill")} (${plainText(made)})`;
    const which = version === null ? "" : `, version ${plainText(version.id)}`;
    printLine(skill === undefined ? `Added ${what}${which}` : `Added a version to ${what}${which}`);
  },
};

/** The id of the newest skill that has the name which the package says. */
async function findByPackage(place: SkillPlace, source: SkillSource): Promise<string> {
  const { name, errors } = await checkSource(source, MOST_BYTES, NO_PROGRESS);
  if (name === null) {
    throw new Error(["Its SKILL.md says no name to find the skill by:", ...problemLines(errors)].join("\n"));
  }
  const found = await place.findUploaded(name);
  if (found) return found.id;
  throw new Error(`There is no skill named "${plainText(name)}" yet: leave out --as-version to make it`);
}
