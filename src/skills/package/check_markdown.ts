/**
 * A SKILL.md by one of two profiles: what refuses it, what is only told, and what it says. The same for uploads (strict)
 * and local folders (lenient), so that `doctor`, dry run and upload never disagree about a rule.
 *
 * @module
 */
import { adviseOn, findUnknownKeys, findWarnings, MOVE_DETAILS } from "./advice.ts";
import { readDespiteColons } from "./bare_colons.ts";
import type { Problem } from "./problem.ts";
import {
  descriptionOf,
  findProblems,
  type FrontMatter,
  type MarkdownRules,
  type Profile,
  readFrontMatter,
  type Subject,
  textOf,
} from "./rules.ts";
import { estimateLevels, type SkillTokens } from "./tokens.ts";

/** Bytes of a SKILL.md, in uploads and local folders: it is read and searched in one go, and meant for a model. */
export const MAX_SKILL_MD_BYTES: number = 512 * 1024;

/** What a SKILL.md says. */
export interface SkillText {
  /** Empty when there is none: a local skill has its folder's. */
  readonly name: string;
  readonly description: string;
  /** Absent when it is not as the open specification has it, or had to be mended. */
  readonly frontMatter: FrontMatter | undefined;
  readonly instructions: string;
  readonly tokens: SkillTokens;
}

export interface MarkdownCheck {
  /** Absent when the file cannot be read. */
  readonly skill: SkillText | undefined;
  /** Each refuses an upload, or leaves a local skill out. */
  readonly problems: readonly Problem[];
  /** What breaks a rule that the profile forgives, or what some client or model will stumble over. */
  readonly warnings: readonly Problem[];
  /** What is only a question of style and cost. */
  readonly advice: readonly Problem[];
}

/**
 * Looks at all of a SKILL.md.
 * @param directory the folder that it lies in; empty when that has no name
 */
export function checkMarkdown(
  bytes: Uint8Array,
  directory: string,
  profile: Profile,
  rules: MarkdownRules = {},
): MarkdownCheck {
  if (bytes.length > MAX_SKILL_MD_BYTES) {
    const problem = {
      file: "SKILL.md",
      line: undefined,
      rule: "skill-md-size",
      message: `must have at most ${MAX_SKILL_MD_BYTES} bytes`,
      hint: MOVE_DETAILS,
    };
    return { skill: undefined, problems: [problem], warnings: [], advice: [] };
  }
  const { read: markdown, mended } = readDespiteColons(bytes);
  if ("rule" in markdown) {
    const problems = mended ? [mended, markdown] : [markdown];
    return { skill: undefined, problems, warnings: [], advice: [] };
  }
  const subject: Subject = { ...rules, markdown, directory };
  const name = textOf(markdown, "name").trim();
  const description = descriptionOf(markdown);
  const tokens = estimateLevels(name, description, markdown.body);
  const isStrict = profile === "strict";
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  if (bytes[0] === 0xef && bytes[1] === 0xbb && bytes[2] === 0xbf) {
    const message = "begins with a byte order mark, and some readers then find no front matter";
    const hint = "save the file as UTF-8 without a byte order mark";
    warnings.push({ file: "SKILL.md", line: 1, rule: "byte-order-mark", message, hint });
  }
  if (mended) (isStrict ? problems : warnings).push(mended);
  const found = findProblems(subject, profile);
  problems.push(...found.problems);
  warnings.push(...found.warnings);
  warnings.push(...findWarnings(subject, tokens));
  const advice = adviseOn(subject, tokens);
  (isStrict && rules.unknownKeys === "refuse" ? problems : advice).push(...findUnknownKeys(subject));
  const frontMatter = mended ? undefined : readFrontMatter(markdown);
  return {
    skill: { name, description, frontMatter, instructions: markdown.body, tokens },
    problems,
    warnings,
    advice,
  };
}
