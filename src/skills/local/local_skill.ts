/**
 * Reads one skill of a local folder under the lenient profile, and again only when one of its files changes.
 *
 * @module
 */
import { encodeBase64url } from "../../crypto/base64url.ts";
import { sha256 } from "../../crypto/sha256.ts";
import type { MarkdownCheck, SkillText } from "../package/check_markdown.ts";
import { MAX_SKILL_MD_BYTES } from "../package/skill_md_size.ts";
import { type FolderEntry, FolderError, type SkillFolder } from "./folder.ts";
import {
  createDigester,
  type Digested,
  findFiles,
  type FoundFile,
  type ManifestFile,
} from "./local_files.ts";
import { findNearMiss } from "./near_miss.ts";
import type { Problem } from "../package/problem.ts";
import { digestOf } from "../content_digest.ts";
import type { FrontMatter } from "../package/rules.ts";
import type { SkillTokens } from "../package/tokens.ts";

/** A skill folder at one moment. */
export interface LocalSkill {
  /** `skill_local_` and a digest of its name: the same on every machine, and for a later skill of the same name. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /**
   * `skver_local_` and a digest of all its files, by path and content, or by path, size and time if the skill is too large
   * for digests.
   */
  readonly version: string;
  /** When one of its files last changed, in microseconds: 16 digits, as the older dialect names versions. */
  readonly epoch: string;
  /** The same in milliseconds. */
  readonly modified: number;
  readonly folder: SkillFolder;
  /** The skill's folder below the local one. */
  readonly directory: string;
  readonly instructions: string;
  /** Estimated tokens of each level. */
  readonly tokens: SkillTokens;
  /** In path order. */
  readonly files: readonly ManifestFile[];
  /** Absent when it does not conform to the open specification, or had to be repaired. */
  readonly frontMatter: FrontMatter | undefined;
}

/** The result of one scan, kept for the next. */
export interface LocalRead {
  /** Changes when a file changes; empty when the next scan must read again. */
  readonly stamp: string;
  readonly skill: LocalSkill | undefined;
  /** The reasons if it is not served; otherwise its warnings. */
  readonly problems: readonly Problem[];
  readonly markdown: Markdown | undefined;
  readonly digested: Digested;
}

/** SKILL.md: the result of its check, and the digest of the same bytes. */
interface Markdown {
  readonly stamp: string;
  readonly file: ManifestFile;
  readonly check: MarkdownCheck;
}

/** The maximum of a `Date`, in milliseconds since the epoch. */
const MAX_DATE_MS = 8.64e15;

/**
 * Creates the function that reads the skill in a folder. It returns `before` when no file changed, and `undefined` when the
 * folder does not exist.
 */
export function createReader(): (
  folder: SkillFolder,
  entry: FolderEntry,
  before: LocalRead | undefined,
) => Promise<LocalRead | undefined> {
  const digest = createDigester();

  async function read(
    folder: SkillFolder,
    { name: directory, modified }: FolderEntry,
    before: LocalRead | undefined,
  ): Promise<LocalRead | undefined> {
    const top = await folder.list(directory);
    if (!top) return undefined;
    const entry = top.find(({ name }) => name === "SKILL.md");
    if (!entry) return skip(await findNearMiss(folder, directory, top));
    if (entry.type !== "file") return skip(toProblem("not-a-file", "must be a regular file"));
    const found = await findFiles(folder, directory, top);
    const stamp = JSON.stringify([found.files.map(({ path, stamp }) => [path, stamp]), found.problems]);
    if (before?.stamp === stamp) return before;
    const markdown = before?.markdown?.stamp === entry.stamp
      ? before.markdown
      : await readMarkdown(folder, directory, entry.stamp);
    if ("rule" in markdown) return skip(markdown);
    const { skill: text, problems: fatal, warnings } = markdown.check;
    if (!text || fatal.length > 0) {
      return { stamp, skill: undefined, problems: fatal, markdown, digested: new Map() };
    }
    const known = new Map(before?.digested).set("SKILL.md", markdown);
    const { digested, problems } = await digest(folder, directory, found.files, known);
    const files = Array.from(digested.values(), ({ file }) => file);
    const skill = toSkill(folder, directory, text, {
      version: versionOf(files, found.files, markdown.file),
      // Removing a file changes the time of the folder.
      modified: Math.min(Math.max(found.modified, modified, 0), MAX_DATE_MS),
      files,
    });
    return {
      // The next scan retries what could not be read.
      stamp: problems.length > 0 ? "" : stamp,
      skill,
      problems: [...warnings, ...findStrictOmission(text, warnings), ...found.problems, ...problems],
      markdown,
      digested,
    };
  }

  return async (folder, entry, before) => {
    try {
      return await read(folder, entry, before);
    } catch (error) {
      if (!(error instanceof FolderError)) throw error;
      return skip(toProblem("unreadable", error.message, ""));
    }
  };
}

/** Strict clients omit a skill whose front matter does not conform: report it if no other warning does. */
function findStrictOmission({ frontMatter }: SkillText, warnings: readonly Problem[]): Problem[] {
  if (frontMatter || warnings.length > 0) return [];
  const message = "a field of the front matter has the wrong type, so strict clients omit the skill";
  return [toProblem("front-matter-form", message)];
}

function toProblem(rule: string, message: string, file: string = "SKILL.md"): Problem {
  return { file, line: undefined, rule, message };
}

function skip(problem: Problem): LocalRead {
  return { stamp: "", skill: undefined, problems: [problem], markdown: undefined, digested: new Map() };
}

async function readMarkdown(
  folder: SkillFolder,
  directory: string,
  stamp: string,
): Promise<Markdown | Problem> {
  try {
    const bytes = await folder.read(`${directory}/SKILL.md`, MAX_SKILL_MD_BYTES);
    if (!bytes) return toProblem("unreadable", "was removed while it was read");
    const digest = await digestOf(bytes);
    const file = { path: "SKILL.md", size: bytes.length, type: "text/markdown", digest };
    const { checkMarkdown } = await import("../package/check_markdown.ts");
    return { stamp, file, check: checkMarkdown(bytes, directory, "lenient") };
  } catch (error) {
    if (error instanceof RangeError) {
      return toProblem("skill-md-size", `must have at most ${MAX_SKILL_MD_BYTES} bytes`);
    }
    if (error instanceof FolderError) return toProblem("unreadable", error.message);
    throw error;
  }
}

function toSkill(
  folder: SkillFolder,
  directory: string,
  { name, description, frontMatter, instructions, tokens }: SkillText,
  rest: Pick<LocalSkill, "version" | "modified" | "files">,
): LocalSkill {
  const known = name || directory;
  return {
    id: "skill_local_" + shortDigest(known),
    name: known,
    description,
    ...rest,
    epoch: String(Math.floor(rest.modified * 1000)).padStart(16, "0"),
    folder,
    directory,
    instructions,
    tokens,
    frontMatter,
  };
}

function versionOf(
  files: readonly ManifestFile[],
  found: readonly FoundFile[],
  { digest }: ManifestFile,
): string {
  const isWhole = files.every(({ digest }) => digest !== undefined);
  const lines = isWhole
    ? files.map(({ path, digest }) => [path, digest])
    : [digest, ...found.map(({ path, size, modified }) => [path, size, modified])];
  return "skver_local_" + shortDigest(JSON.stringify(lines));
}

function shortDigest(text: string): string {
  return encodeBase64url(sha256(text).subarray(0, 16));
}
