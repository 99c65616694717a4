/**
 * `trivet skill add`: uploads a folder or an archive as a new skill, or as a new version of a skill.
 *
 * @module
 */
import { ApiError } from "../api/api_error.ts";
import { printError, printJson, printLine, UsageError } from "../output.ts";
import { printableText } from "../printable_text.ts";
import { NO_PROGRESS, withProgressBar } from "../progress_bar.ts";
import { checkSource } from "./skill_check.ts";
import { type SkillCommand, skillCommand } from "./skill_command.ts";
import { findUploaded, type ListedSkill, type SkillPlace } from "./skill_place.ts";
import { describeProblems } from "./skill_problems.ts";
import { MAX_SOURCE_BYTES, openSource, printExcluded, type SkillSource } from "./skill_source.ts";

/** Skills whose labels are compared with that of a new one. */
const MAX_COMPARED_SKILLS = 1000;

export const add: SkillCommand = skillCommand({
  operands: "FOLDER|ZIP",
  summary: "uploads a new skill, or a new version of one",
  options: {
    skill: { value: "ID", summary: "add a version to the skill with this id" },
    "as-version": { summary: "add a version to the newest skill that has the name in SKILL.md" },
    "display-name": { value: "NAME", summary: "the label of a new skill", shownDefault: "the skill's name" },
  },
  async run({ values, operands: [path], json, terminal, open }) {
    const { skill: id, "as-version": asVersion, "display-name": displayName } = values;
    if (id !== undefined && asVersion) throw new UsageError("--skill and --as-version exclude each other");
    if (displayName !== undefined && (id !== undefined || asVersion)) {
      throw new UsageError("--display-name is only for a new skill: its versions keep the label");
    }
    const source = await openSource(path!);
    printExcluded(source);
    const place = await open();
    const skill = asVersion ? await findByPackage(place, source) : id;
    if (skill === undefined) await refuseSecond(place, source, displayName);
    const added = await withProgressBar(
      "uploading",
      terminal,
      (progress) => place.add({ source, skill, displayName }, progress),
    );
    if (added.warnings.length > 0) {
      printError("Added with warnings:");
      for (const line of describeProblems(added.warnings)) printError(line);
    }
    if (json) return printJson({ ...added.skill, version: added.version });
    const { skill: { id: made, name, display_name }, version } = added;
    const what = `${printableText(name ?? display_name ?? "skill")} (${printableText(made)})`;
    const which = version === null ? "" : `, version ${printableText(version.id)}`;
    printLine(skill === undefined ? `Added ${what}${which}` : `Added a version to ${what}${which}`);
  },
});

/**
 * Adding a skill again is most often a mistake: two skills with one label look the same.
 * @throws {Error} when an uploaded skill has the label already
 */
async function refuseSecond(
  place: SkillPlace,
  source: SkillSource,
  displayName: string | undefined,
): Promise<void> {
  const label = displayName ?? (await checkSource(source, MAX_SOURCE_BYTES, NO_PROGRESS)).name;
  const found = label === null ? undefined : await findLabel(place, label);
  if (!found) return;
  throw new Error(
    `A skill with the label "${printableText(label!)}" exists: ${printableText(found.id)}. ` +
      "Add a version to it with --as-version, or another skill with --display-name",
  );
}

/** Of the newest skills; `undefined` too where the API key cannot list them. */
async function findLabel(place: SkillPlace, label: string): Promise<ListedSkill | undefined> {
  let compared = 0;
  try {
    for await (const skill of place.list()) {
      if (skill.source === "custom" && skill.display_name === label) return skill;
      if (++compared === MAX_COMPARED_SKILLS) return undefined;
    }
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
  }
  return undefined;
}

/** The id of the newest skill that has the package's name. */
async function findByPackage(place: SkillPlace, source: SkillSource): Promise<string> {
  const { name, errors } = await checkSource(source, MAX_SOURCE_BYTES, NO_PROGRESS);
  if (name === null) {
    throw new Error(
      ["SKILL.md has no valid name to find the skill by:", ...describeProblems(errors)].join("\n"),
    );
  }
  const found = await findUploaded(place, name);
  if (found) return found.id;
  throw new Error(`Skill not found: "${printableText(name)}". Leave out --as-version to add a new skill`);
}
