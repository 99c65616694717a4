/**
 * Skills in local folders: found without a call, served from where they lie, never copied into the store, and read
 * again when they change. Lenient: what breaks a rule is served with a warning where it can be served at all.
 *
 * @module
 */
import { encodeBase64url } from "../crypto/base64url.ts";
import { sha256 } from "../crypto/sha256.ts";
import type { FolderEntry, SkillFolder } from "./folder.ts";
import { keepFresh } from "./fresh.ts";
import { quoteBareColons, readSkillMarkdown, type SkillMarkdown } from "./front_matter.ts";
import { describe } from "./problem.ts";
import { digestOf } from "./publish.ts";
import { descriptionOf, findProblems, type FrontMatter, readFrontMatter } from "./rules.ts";
import { estimateTokens } from "./tokens.ts";

export interface LocalSkill {
  /** `skill_local_` and a digest of where it lies: the same as long as it stays there. */
  readonly id: string;
  readonly name: string;
  readonly description: string;
  /** `skver_local_` and a digest of its SKILL.md. */
  readonly version: string;
  readonly modified: number;
  readonly folder: SkillFolder;
  /** The skill's folder below the local one. */
  readonly directory: string;
  readonly instructions: string;
  /** What SKILL.md was when it was read. */
  readonly markdown: { readonly size: number; readonly digest: string };
  /** Absent when it is not as the open specification has it, or had to be mended. */
  readonly frontMatter: FrontMatter | undefined;
}

/** Something in a local folder that is not served as its author may expect. */
export interface Diagnostic {
  readonly where: string;
  readonly message: string;
  readonly skipped: boolean;
}

export interface Directory {
  /** All skills by name; of two with one name the first folder's counts. */
  skills(): Promise<readonly LocalSkill[]>;
  diagnostics(): Promise<readonly Diagnostic[]>;
}

/** Folders are looked at again after this many milliseconds, at the next call. */
const FRESH = 1000;
const LARGEST_SKILL_MD = 1024 * 1024;
const MOST_SKILLS = 2000;
/** What instructions should cost at most, since they are loaded whole. */
const MOST_TOKENS = 5000;

interface Scan {
  readonly skills: readonly LocalSkill[];
  readonly diagnostics: readonly Diagnostic[];
}

interface Read {
  readonly stamp: string;
  readonly skill: LocalSkill | undefined;
  readonly diagnostics: readonly Diagnostic[];
}

/** The skills of these folders, the first folder before the next. */
export function openDirectory(folders: readonly SkillFolder[], now: () => number): Directory {
  const known = new Map<string, Read>();
  const scan = keepFresh(FRESH, now, () => scanAll(folders, known));
  return {
    skills: async () => (await scan()).skills,
    diagnostics: async () => (await scan()).diagnostics,
  };
}

async function scanAll(folders: readonly SkillFolder[], known: Map<string, Read>): Promise<Scan> {
  const byName = new Map<string, LocalSkill>();
  const diagnostics: Diagnostic[] = [];
  const seen = new Set<string>();
  for (const folder of folders) {
    for (const entry of (await folder.list("")).slice(0, MOST_SKILLS)) {
      const where = `${folder.path}/${entry.name}`;
      if (entry.type === "link") {
        diagnostics.push({ where, message: "It is a link, and links are not followed", skipped: true });
      }
      if (entry.type === "file" && /\.md$/i.test(entry.name)) {
        diagnostics.push({ where, message: "A skill is a folder with a SKILL.md in it", skipped: true });
      }
      if (entry.type !== "folder" || entry.name.startsWith(".") || entry.name === "node_modules") continue;
      seen.add(where);
      const read = await readOne(folder, entry, where, known.get(where));
      known.set(where, read);
      diagnostics.push(...read.diagnostics);
      if (!read.skill) continue;
      const other = byName.get(read.skill.name);
      if (other) {
        const message = `The name "${other.name}" is taken by ${other.folder.path}/${other.directory}`;
        diagnostics.push({ where, message, skipped: true });
      } else byName.set(read.skill.name, read.skill);
    }
  }
  for (const where of known.keys()) if (!seen.has(where)) known.delete(where);
  const skills = [...byName.values()].sort((a, b) => a.name < b.name ? -1 : 1);
  return { skills, diagnostics };
}

async function readOne(
  folder: SkillFolder,
  entry: FolderEntry,
  where: string,
  before: Read | undefined,
): Promise<Read> {
  const files = await folder.list(entry.name);
  const file = files.find(({ name }) => name === "SKILL.md");
  const skip = (message: string, stamp = ""): Read => ({
    stamp,
    skill: undefined,
    diagnostics: [{ where, message, skipped: true }],
  });
  if (!file) {
    const near = files.find(({ name }) => /^skill\.md$/i.test(name));
    return skip(near ? `"${near.name}" must be named SKILL.md` : "It has no SKILL.md");
  }
  if (file.type !== "file") return skip("SKILL.md must be a plain file");
  if (before?.stamp === file.stamp) return before;
  const bytes = await folder.read(`${entry.name}/SKILL.md`, LARGEST_SKILL_MD).catch(() => undefined);
  if (!bytes) return skip(`SKILL.md cannot be read, or is over ${LARGEST_SKILL_MD} bytes`);
  const markdown = { size: bytes.length, digest: await digestOf(bytes) };
  return { stamp: file.stamp, ...toSkill(folder, entry.name, where, file.modified, bytes, markdown) };
}

function toSkill(
  folder: SkillFolder,
  directory: string,
  where: string,
  modified: number,
  bytes: Uint8Array,
  markdown: LocalSkill["markdown"],
): Omit<Read, "stamp"> {
  const warnings: string[] = [];
  let read = readSkillMarkdown(bytes);
  const frontMatter = "rule" in read ? undefined : readFrontMatter(read);
  if ("rule" in read && read.rule === "yaml") {
    const mended: SkillMarkdown | typeof read = readSkillMarkdown(quoteBareColons(bytes));
    if (!("rule" in mended)) warnings.push(`${describe([read])}; it was read as if quoted`);
    read = mended;
  }
  if ("rule" in read) {
    return { skill: undefined, diagnostics: [{ where, message: describe([read]), skipped: true }] };
  }
  const problems = findProblems(read, directory);
  const fatal = problems.filter((each) => each.fatal).map((each) => each.problem);
  if (fatal.length > 0) {
    return { skill: undefined, diagnostics: [{ where, message: describe(fatal), skipped: true }] };
  }
  if (problems.length > 0) warnings.push(describe(problems.map((each) => each.problem)));
  if (!frontMatter && warnings.length === 0) {
    // What YAML takes for a number or nothing is written as one in JSON.
    warnings.push(
      "name, description, compatibility and what is in metadata must be text for every reader: put quotes around it",
    );
  }
  const tokens = estimateTokens(read.body);
  if (tokens > MOST_TOKENS) {
    warnings.push(
      `SKILL.md has about ${tokens} tokens of instructions: keep it under ${MOST_TOKENS}, and move the rest into files beside it`,
    );
  }
  const name = read.fields.get("name");
  const skill: LocalSkill = {
    id: "skill_local_" + shortDigest(where),
    name: typeof name === "string" && name.trim() !== "" ? name.trim() : directory,
    description: descriptionOf(read),
    version: "skver_local_" + shortDigest(bytes),
    modified,
    folder,
    directory,
    instructions: read.body,
    markdown,
    frontMatter,
  };
  return { skill, diagnostics: warnings.map((message) => ({ where, message, skipped: false })) };
}

function shortDigest(data: string | Uint8Array): string {
  return encodeBase64url(sha256(data).subarray(0, 16));
}
