/**
 * Turns the files of an upload into a package under the strict rules. Every problem is found in one pass, so that an
 * author can fix all of them at once.
 *
 * @module
 */
import { SkillError } from "../error.ts";
import { findLayout, type LayoutRules } from "./layout.ts";
import { describe, type Problem, tooManyBytes } from "./problem.ts";
import type { FrontMatter, MarkdownRules } from "./rules.ts";
import type { SentFile } from "./sent_file.ts";
import type { SkillTokens } from "./tokens.ts";

/** A package that may be published: paths are checked and relative to its root. */
export interface SkillPackage {
  readonly name: string;
  readonly description: string;
  /** Absent when it does not conform to the open specification. */
  readonly frontMatter?: FrontMatter | undefined;
  /** The folder around it in the upload; empty when there was none. */
  readonly directory: string;
  /** What the levels cost a model, estimated. */
  readonly tokens: SkillTokens;
  readonly files: readonly SentFile[];
  /** What its author may want to improve. */
  readonly warnings: readonly Problem[];
}

/** Settings of the rules; by default the strict ones. */
export interface PackageRules extends LayoutRules, MarkdownRules {}

/** The result for a package, valid or not. */
export interface PackageCheck {
  /** Absent when there are problems. */
  readonly package: SkillPackage | undefined;
  /** Each refuses the package. */
  readonly problems: readonly Problem[];
  readonly warnings: readonly Problem[];
  /** From SKILL.md, if it can be read. */
  readonly name: string | undefined;
  readonly description: string | undefined;
  readonly tokens: SkillTokens | undefined;
  /** Files of the package, without files of operating systems. */
  readonly files: readonly SentFile[];
}

/**
 * Checks a whole upload.
 * @param limit bytes of all files together
 */
export async function checkPackage(
  sent: readonly SentFile[],
  limit: number,
  rules: PackageRules = {},
): Promise<PackageCheck> {
  const tooLarge = sent.reduce((sum, { bytes }) => sum + bytes.length, 0) > limit
    ? [{ ...tooManyBytes(limit, "unpacked"), hint: "remove files that the skill does not need" }]
    : [];
  const layout = await findLayout(sent, rules);
  const { directory, files } = layout;
  const markdown = files.find(({ path }) => path === "SKILL.md");
  // The YAML parser is as large as the rest of the service.
  const { checkMarkdown } = await import("./check_markdown.ts");
  const checked = markdown && checkMarkdown(markdown.bytes, directory, "strict", rules);
  const problems = [...tooLarge, ...layout.problems, ...checked?.problems ?? []];
  const warnings = [...layout.warnings, ...checked?.warnings ?? [], ...checked?.advice ?? []];
  const isGood = checked?.skill && problems.length === 0;
  return {
    package: isGood ? { ...checked.skill, directory, files, warnings } : undefined,
    problems,
    warnings,
    name: checked?.skill?.name,
    description: checked?.skill?.description,
    tokens: checked?.skill?.tokens,
    files,
  };
}

/**
 * The package of an upload.
 * @param limit bytes of all files together
 * @throws {SkillError} with all problems, up to the limits of a response
 */
export async function readPackage(
  sent: readonly SentFile[],
  limit: number,
  rules: PackageRules = {},
): Promise<SkillPackage> {
  const { package: content, problems } = await checkPackage(sent, limit, rules);
  if (content) return content;
  const isTooLarge = problems.some(({ rule }) => rule === "upload-too-large");
  const type = isTooLarge ? "request_too_large" : "invalid_request_error";
  throw new SkillError(type, describe(problems), { problems });
}
