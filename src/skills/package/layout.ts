/**
 * Where the package is among the files that were sent: checks every path, drops files of operating systems, finds SKILL.md
 * and takes its folder as the package. Refuses names that some file system treats as one.
 *
 * @module
 */
import { WorkSlice } from "../../http/work_slice.ts";
import { findExclusion } from "./excluded_files.ts";
import { checkPath, collisionKey, isSystemFile, showPath } from "./path.ts";
import type { Problem } from "./problem.ts";
import type { SentFile } from "./sent_file.ts";

export interface LayoutRules {
  /** Whether all files must be in one folder (`skills-2025-10-02`). */
  readonly wrapped?: "required" | "optional";
  /** Whether the name may have another case, such as `skill.md`, if there is one. It is stored as SKILL.md. */
  readonly anyCase?: boolean;
}

export interface Layout {
  /** The folder around the package; empty when there is none. */
  readonly directory: string;
  /** Relative to the package; empty when the package was not found. */
  readonly files: readonly SentFile[];
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
}

/** Finds the package among the files that were sent, and every problem with their names. */
export async function findLayout(sent: readonly SentFile[], rules: LayoutRules): Promise<Layout> {
  const slice = new WorkSlice();
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  const files: SentFile[] = [];
  if (sent.length === 0) {
    problems.push(
      problem("no-files", "", "No files were sent", "send the skill's files as files[], or one zip archive"),
    );
    return { directory: "", files, problems, warnings };
  }
  /** A SKILL.md with a bad path is reported for its path, not as missing. */
  let isSkillBad = false;
  for (const file of sent) {
    if (slice.isOver) await slice.yield();
    const checked = checkPath(file.path);
    if ("problem" in checked) {
      problems.push(checked.problem);
      isSkillBad ||= /skill\.md$/i.test(file.path.slice(-"/SKILL.md".length));
    } else if (!isSystemFile(checked.path)) files.push({ ...file, path: checked.path });
  }
  const root = findRoot(files, rules);
  if ("problem" in root) {
    if (!isSkillBad) problems.push(root.problem);
    return {
      directory: "",
      files: [],
      problems: [...problems, ...await findCollisions(files, slice)],
      warnings,
    };
  }
  const { directory, markdown } = root;
  const prefix = directory === "" ? "" : directory + "/";
  if (directory === "" && rules.wrapped === "required") problems.push(unwrapped());
  const inside: SentFile[] = [];
  for (const file of files) {
    if (!file.path.startsWith(prefix)) {
      const message = `all files must be in the folder "${directory}", but "${showPath(file.path)}" is not`;
      problems.push(
        problem("outside-folder", file.path, message, `move it into "${directory}", or remove it`),
      );
    } else if (file.path === markdown && !file.path.endsWith("SKILL.md")) {
      inside.push({ ...file, path: "SKILL.md" });
      warnings.push(
        problem("skill-md-case", file.path, "stored as SKILL.md, the name that every client expects"),
      );
    } else inside.push({ ...file, path: file.path.slice(prefix.length) });
  }
  for (const { path } of inside) {
    if (slice.isOver) await slice.yield();
    if (!hasCredentials(path)) continue;
    const message = "the file usually contains credentials, and everyone who reads the skill gets it";
    warnings.push(problem("credential-file", path, message, "remove it, unless it has none"));
  }
  return {
    directory,
    files: inside,
    problems: [...problems, ...await findCollisions(inside, slice)],
    warnings,
  };
}

/** The path of SKILL.md, and its folder. */
function findRoot(
  files: readonly SentFile[],
  { wrapped = "optional", anyCase = false }: LayoutRules,
): { readonly directory: string; readonly markdown: string } | { readonly problem: Problem } {
  const matching = (name: RegExp) => files.map(({ path }) => path).filter((path) => name.test(path));
  const exact = matching(/^([^/]+\/)?SKILL\.md$/);
  const tops = exact.length > 0 || !anyCase ? exact : matching(/^([^/]+\/)?skill\.md$/i);
  const top = tops.find((path) => !path.includes("/")) ?? tops[0];
  if (top === undefined) {
    const near = files.find(({ path }) => /(^|\/)skill\.md$/i.test(path))?.path;
    if (near !== undefined && wrapped === "required" && near.endsWith("SKILL.md")) {
      return { problem: unwrapped() };
    }
    const hint = near === undefined
      ? "put a SKILL.md in the top folder of the package"
      : `found "${showPath(near)}"; it must be named SKILL.md and be at the top or in one folder`;
    return { problem: problem("skill-md-missing", "", "SKILL.md is missing", hint) };
  }
  if (tops.length > 1 && top.includes("/")) {
    const names = tops.slice(0, 10).map(showPath).join(", ");
    const message = `A package must contain one skill, but contains several: ${names}`;
    return { problem: problem("several-skills", "", message, "send each skill in its own request") };
  }
  return { directory: top.slice(0, -"/SKILL.md".length), markdown: top };
}

/** Whether a file, or a folder around it, usually contains credentials. */
function hasCredentials(path: string): boolean {
  const parts = path.split("/");
  return parts.some((part) => findExclusion(part) === "credentials");
}

function unwrapped(): Problem {
  return problem(
    "folder-required",
    "",
    "SKILL.md file must be exactly in the top-level folder.",
    "put all files in one folder with the skill's name: <name>/SKILL.md",
  );
}

/** Two files that some system treats as one, or a file that is also a folder. */
async function findCollisions(files: readonly SentFile[], slice: WorkSlice): Promise<Problem[]> {
  const found: Problem[] = [];
  const seen = new Map<string, string>();
  const keys: string[] = [];
  for (const { path } of files) {
    if (slice.isOver) await slice.yield();
    const key = collisionKey(path);
    keys.push(key);
    const other = seen.get(key);
    if (other === undefined) seen.set(key, path);
    else if (other === path) found.push(problem("path-twice", path, "duplicate file"));
    else {
      const message = `the file name is the same as "${showPath(other)}" on some systems`;
      found.push(problem("path-collision", path, message, "rename one of them"));
    }
  }
  const lengths = new Set(keys.map((key) => key.length));
  for (const [i, { path }] of files.entries()) {
    if (slice.isOver) await slice.yield();
    const key = keys[i]!;
    for (let slash = key.indexOf("/"); slash >= 0; slash = key.indexOf("/", slash + 1)) {
      // Hardly ever is a file's path just as long as the folder's.
      const file = lengths.has(slash) ? seen.get(key.slice(0, slash)) : undefined;
      if (file === undefined) continue;
      found.push(problem("path-file-and-folder", path, `"${showPath(file)}" is both a file and a folder`));
      break;
    }
  }
  return found;
}

function problem(rule: string, file: string, message: string, hint?: string): Problem {
  return { file: showPath(file), line: undefined, rule, message, hint };
}
