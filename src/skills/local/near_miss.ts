/**
 * Explains entries of a local folder that are probably meant as skills but are not, so that no skill is skipped silently.
 *
 * @module
 */
import { type FolderEntry, FolderError, type SkillFolder } from "./folder.ts";
import type { Problem } from "../package/problem.ts";

/** How many subfolders of a folder without SKILL.md are searched. */
const MAX_FOLDERS_SEARCHED = 16;
/** Usual files beside skills, which need no report. */
const NOT_A_SKILL =
  /^(readme|changelog|license|licence|notice|contributing|code_of_conduct|security|agents|claude|gemini|index)\b/i;

/** Why a folder is not a skill. */
export async function findNearMiss(
  folder: SkillFolder,
  directory: string,
  entries: readonly FolderEntry[],
): Promise<Problem> {
  const near = entries.find(({ name }) => /^skills?(\.(md|markdown|mdx|txt))*$/i.test(name));
  if (near && near.type !== "folder") {
    return { file: near.name, line: undefined, rule: "skill-md-name", message: "must be named SKILL.md" };
  }
  const folders = entries.filter(({ type, name }) => type === "folder" && !name.startsWith("."));
  for (const { name } of folders.slice(0, MAX_FOLDERS_SEARCHED)) {
    if (!await hasSkill(folder, `${directory}/${name}`)) continue;
    return {
      file: `${name}/SKILL.md`,
      line: undefined,
      rule: "skill-md-depth",
      message: "is nested too deeply: a skill must be directly inside a skills folder",
      hint: `move ${JSON.stringify(name)} up, or add ${folder.path}/${directory} as a skills folder`,
    };
  }
  return { file: "", line: undefined, rule: "skill-md-missing", message: "SKILL.md is missing" };
}

async function hasSkill(folder: SkillFolder, path: string): Promise<boolean> {
  try {
    const entries = await folder.list(path);
    return entries?.some(({ name, type }) => name === "SKILL.md" && type === "file") ?? false;
  } catch (error) {
    if (error instanceof FolderError) return false;
    throw error;
  }
}

/** The problem with an entry of a skills folder; `undefined` for a folder, and for a file that needs no report. */
export function findMisplaced({ name, type }: FolderEntry): Problem | undefined {
  const problem = { file: "", line: undefined };
  if (type === "other") {
    return { ...problem, rule: "special-file", message: "Not a regular file; ignored" };
  }
  if (type !== "file" || NOT_A_SKILL.test(name)) return undefined;
  if (name === "SKILL.md") {
    return {
      ...problem,
      rule: "folder-is-skill",
      message:
        "A skill must be a folder with a SKILL.md in it, but this SKILL.md is in the skills folder itself",
      hint: "use the parent folder as the skills folder",
    };
  }
  if (!/\.mdx?$/i.test(name)) return undefined;
  return {
    ...problem,
    rule: "flat-file",
    message: "A skill must be a folder with a SKILL.md in it",
    hint: `move it to ${name.replace(/\.mdx?$/i, "")}/SKILL.md`,
  };
}

/** Why a link in a skills folder is not served; `undefined` when it may be followed. */
export function findBadLink({ leadsTo }: FolderEntry, followLinks: boolean): Problem | undefined {
  const problem = { file: "", line: undefined, rule: "link" };
  switch (leadsTo) {
    case "nothing":
      return { ...problem, rule: "link-dangling", message: "Broken link: its target does not exist" };
    case "itself":
      return { ...problem, rule: "link-loop", message: "Broken link: it leads to itself" };
    case "file":
    case "other":
      return { ...problem, rule: "link-to-file", message: "The link does not lead to a folder" };
    default:
      return followLinks ? undefined : {
        ...problem,
        message: "Links are not followed",
        hint: "allow links to skill folders (--follow-links, or followLinks), or move the folder here",
      };
  }
}
