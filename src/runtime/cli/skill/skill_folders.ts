/**
 * Which folders of skills a command serves, in order of precedence: those that are named, first to last; then, with
 * `--client-skills`, those of other clients, in the project before those in the home folder.
 *
 * @module
 */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import type { SkillFolder } from "../../../skills/local/folder.ts";
import { skillFolder } from "../../skill_folder.ts";
import type { ValuesOf } from "../options.ts";

/** The options of every command that reads folders of skills. */
export const SKILL_FOLDER_OPTIONS = {
  skills: {
    value: "DIR",
    isRepeatable: true,
    summary: `folder of local skills, which everyone who can call the tools can read; when two folders have a
      skill of the same name, the first folder wins`,
    shownDefault: "skills in the data folder; with MODULE none: its tools alone are offered",
  },
  "client-skills": {
    summary:
      "also read the skills of other clients: .agents/skills and .claude/skills, here and in the home folder",
  },
  "follow-links": {
    summary: "a skill's own folder can be a symbolic link to anywhere; its files cannot be links",
  },
} as const;
type FolderValues = ValuesOf<typeof SKILL_FOLDER_OPTIONS>;

/** Where other clients look for skills, in the project and in the home folder, in order of precedence. */
const CLIENT_FOLDERS = [".agents/skills", ".claude/skills"];

export interface SkillFolders {
  /** The first, if any, is created when it does not exist. */
  readonly named: readonly string[];
  readonly folders: readonly SkillFolder[];
}

/** The folders that the options name, with those in the data folder unless they name one. */
function readSkillFolders(values: FolderValues, data: string): SkillFolders {
  return openSkillFolders(values.skills ?? [join(data, "skills")], values);
}

/**
 * As {@linkcode readSkillFolders}, for a command that may have a module of tools: with one, only folders that options name.
 * @returns also `isOffered`: whether the tool server offers skills
 */
export function readServedSkills(
  values: FolderValues,
  data: string,
  hasModule: boolean,
): SkillFolders & { readonly isOffered: boolean } {
  const isOffered = !hasModule || values.skills !== undefined || values["client-skills"];
  if (values.skills !== undefined || !hasModule) return { ...readSkillFolders(values, data), isOffered };
  return { ...openSkillFolders([], values), isOffered };
}

/** These folders, and those that the options add. */
export function openSkillFolders(paths: readonly string[], values: FolderValues): SkillFolders {
  const followLinks = values["follow-links"];
  const named = [...new Set(paths.map((path) => resolve(path)))];
  const places = values["client-skills"] ? [process.cwd(), homedir()] : [];
  const found = places.flatMap((place) => CLIENT_FOLDERS.map((path) => join(place, path)));
  const others = [...new Set(found)].filter((path) => !named.includes(path));
  return {
    named,
    folders: [
      ...named.map((path) => skillFolder(path, { followLinks })),
      ...others.map((path) => skillFolder(path, { followLinks, optional: true })),
    ],
  };
}
