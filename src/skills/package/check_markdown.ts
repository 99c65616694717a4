/**
 * Checks a SKILL.md under one of two profiles. Uploads (strict), dry runs and local folders (lenient) share this code, so
 * they never disagree about a rule.
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
import { MAX_SKILL_MD_BYTES } from "./skill_md_size.ts";
import { estimateLevels, type SkillTokens } from "./tokens.ts";

/** The parsed contents of a SKILL.md. */
export interface SkillText {
  /** Empty when there is none: a local skill then gets its folder's name. */
  readonly name: string;
  readonly description: string;
  /** Absent when it does not conform to the open specification, or had to be repaired. */
  readonly frontMatter: FrontMatter | undefined;
  readonly instructions: string;
  readonly tokens: SkillTokens;
}

export interface MarkdownCheck {
  /** Absent when the file cannot be read. */
  readonly skill: SkillText | undefined;
  /** Each refuses an upload, or skips a local skill. */
  readonly problems: readonly Problem[];
  /** Broken rules that the profile tolerates, and what some clients or models handle badly. */
  readonly warnings: readonly Problem[];
  /** Style and cost. */
  readonly advice: readonly Problem[];
}

/**
 * Checks a whole SKILL.md.
 * @param directory the name of its folder; empty when there is none
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
  const { read: markdown, repaired } = readDespiteColons(bytes);
  if ("rule" in markdown) {
    const problems = repaired ? [repaired, markdown] : [markdown];
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
  if (repaired) (isStrict ? problems : warnings).push(repaired);
  const found = findProblems(subject, profile);
  problems.push(...found.problems);
  warnings.push(...found.warnings);
  warnings.push(...findWarnings(subject, tokens));
  const advice = adviseOn(subject, tokens);
  (isStrict && rules.unknownKeys === "refuse" ? problems : advice).push(...findUnknownKeys(subject));
  const frontMatter = repaired ? undefined : readFrontMatter(markdown);
  return {
    skill: { name, description, frontMatter, instructions: markdown.body, tokens },
    problems,
    warnings,
    advice,
  };
}
