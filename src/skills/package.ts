/**
 * From files to a package: the root is found, litter dropped, collisions refused, and SKILL.md read and checked.
 *
 * @module
 */
import { SkillError } from "./error.ts";
import { readSkillMarkdown } from "./front_matter.ts";
import { estimateTokens } from "./tokens.ts";
import { checkPath, collisionKey, isLitter } from "./path.ts";
import { describe } from "./problem.ts";
import { descriptionOf, findProblems, type FrontMatter, readFrontMatter } from "./rules.ts";

/** A file as it was sent: its path may be anything. */
export interface SentFile {
  readonly path: string;
  readonly bytes: Uint8Array;
  /** CRC-32, where an archive has proved it. */
  readonly crc?: number;
}

/** A package that may be published: paths are checked and relative to its root. */
export interface SkillPackage {
  readonly name: string;
  readonly description: string;
  /** Absent when it is not as the open specification has it. */
  readonly frontMatter?: FrontMatter | undefined;
  /** The folder around it; empty when there was none. */
  readonly directory: string;
  /** What the levels cost a model, estimated. */
  readonly tokens: { readonly metadata: number; readonly instructions: number };
  readonly files: readonly SentFile[];
}

/**
 * Checks an upload by the strict rules.
 * @param limit bytes of all files together
 * @throws {SkillError} with everything that is wrong in one message
 */
export function readPackage(sent: readonly SentFile[], limit: number): SkillPackage {
  if (sent.length === 0) throw refusal("Send the skill's files as files[], or one zip archive");
  if (sent.reduce((sum, { bytes }) => sum + bytes.length, 0) > limit) {
    throw new SkillError("request_too_large", `A skill may have at most ${limit} bytes, unpacked`);
  }
  const files: SentFile[] = [];
  const problems: string[] = [];
  for (const file of sent) {
    const checked = checkPath(file.path);
    if ("problem" in checked) problems.push(checked.problem);
    else if (!isLitter(checked.path)) files.push({ ...file, path: checked.path });
  }
  if (problems.length > 0) throw refusal(problems.slice(0, 20).join("; "));
  const { directory, inside } = findRoot(files);
  refuseCollisions(inside);
  const read = readSkillMarkdown(inside.find(({ path }) => path === "SKILL.md")!.bytes);
  if ("rule" in read) throw refusal(describe([read]));
  const broken = findProblems(read, directory).map(({ problem }) => problem);
  if (broken.length > 0) throw refusal(describe(broken));
  return {
    name: read.fields.get("name") as string,
    description: descriptionOf(read),
    frontMatter: readFrontMatter(read),
    directory,
    tokens: {
      metadata: estimateTokens(`${read.fields.get("name")}: ${descriptionOf(read)}`),
      instructions: estimateTokens(read.body),
    },
    files: inside,
  };
}

/** The folder of the one SKILL.md that is nearest to the top; everything must lie in it. */
function findRoot(files: readonly SentFile[]): { directory: string; inside: SentFile[] } {
  const tops = files.map(({ path }) => path).filter((path) => /^([^/]+\/)?SKILL\.md$/.test(path));
  const [skill] = tops;
  if (skill === undefined) {
    const near = files.find(({ path }) => /(^|\/)skill\.md$/i.test(path));
    const hint = near
      ? `: there is "${near.path}", but it must be named SKILL.md and lie at the top or in one folder`
      : "";
    throw refusal(`SKILL.md is missing${hint}`);
  }
  if (tops.length > 1 && tops.includes("SKILL.md")) return { directory: "", inside: [...files] };
  if (tops.length > 1) {
    throw refusal(`A package is one skill, but there are: ${tops.slice(0, 10).join(", ")}`);
  }
  const directory = skill.slice(0, -"/SKILL.md".length);
  if (!skill.includes("/")) return { directory: "", inside: [...files] };
  const outside = files.find(({ path }) => !path.startsWith(directory + "/"));
  if (outside) {
    throw refusal(`All files must lie in the folder "${directory}", but "${outside.path}" does not`);
  }
  return {
    directory,
    inside: files.map((file) => ({ ...file, path: file.path.slice(directory.length + 1) })),
  };
}

/** Two files that some system takes for one, or a file that is also a folder. */
function refuseCollisions(files: readonly SentFile[]): void {
  const seen = new Map<string, string>();
  for (const { path } of files) {
    const key = collisionKey(path);
    const other = seen.get(key);
    if (other !== undefined) {
      throw refusal(`These file names are one on some systems: "${other}" and "${path}"`);
    }
    seen.set(key, path);
  }
  for (const { path } of files) {
    const segments = collisionKey(path).split("/");
    for (let i = 1; i < segments.length; i++) {
      const folder = seen.get(segments.slice(0, i).join("/"));
      if (folder !== undefined) throw refusal(`"${folder}" cannot be a file and a folder: see "${path}"`);
    }
  }
}

function refusal(message: string): SkillError {
  return new SkillError("invalid_request_error", message);
}
