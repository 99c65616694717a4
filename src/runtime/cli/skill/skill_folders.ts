/**
 * Which folders of skills a command serves, and in which order they count: those that are named, first to last; then,
 * with `--client-skills`, those that other clients look into, of the project before those of the user.
 *
 * @module
 */
import { homedir } from "node:os";
import { join, resolve } from "node:path";
import process from "node:process";
import type { SkillFolder } from "../../../skills/local/folder.ts";
import { skillFolder } from "../../skill_folder.ts";
import { listOption, type Values } from "../output.ts";

/** The options that every command on folders of skills takes. */
export const SKILLS_OPTION = {
  skills: { type: "string", multiple: true },
  "client-skills": { type: "boolean" },
  "follow-links": { type: "boolean" },
} as const;
export const SKILLS_HELP =
  `  --skills DIR        folder of local skills; may come several times, and the first with a name counts
                      (default: DIR/skills); everybody who may call the tools may read them
  --client-skills     also the skills that other clients use: .agents/skills and .claude/skills, here and then in
                      the home folder
  --follow-links      the folder of a skill may be a link, wherever it leads; what is in it may not`;

/** Where clients look for skills, below the project and below the home folder, in their order. */
const OF_CLIENTS = [".agents/skills", ".claude/skills"];

export interface SkillFolders {
  /** The first is made when it is not there. */
  readonly named: readonly string[];
  readonly folders: readonly SkillFolder[];
}

/** The folders that the options name. @param data the data folder, whose skills are served when no others are named */
export function readSkillFolders(values: Values, data: string): SkillFolders {
  return openSkillFolders(listOption(values, "skills") ?? [join(data, "skills")], values);
}

/** These folders, and those that the options add. */
export function openSkillFolders(paths: readonly string[], values: Values): SkillFolders {
  const followLinks = values["follow-links"] === true;
  const named = [...new Set(paths.map((path) => resolve(path)))];
  const places = values["client-skills"] === true ? [process.cwd(), homedir()] : [];
  const found = places.flatMap((place) => OF_CLIENTS.map((path) => join(place, path)));
  const others = [...new Set(found)].filter((path) => !named.includes(path));
  return {
    named,
    folders: [
      ...named.map((path) => skillFolder(path, { followLinks })),
      ...others.map((path) => skillFolder(path, { followLinks, optional: true })),
    ],
  };
}
