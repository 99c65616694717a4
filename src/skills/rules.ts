/**
 * What a SKILL.md must say: the interface's bounds, the open specification (https://agentskills.io/specification) and
 * what hosted services refuse. One row per rule; `strict` (uploads) refuses what `lenient` (local folders) warns of.
 *
 * @module
 */
import type { Json } from "../store/store.ts";
import type { SkillMarkdown, Value } from "./front_matter.ts";
import { findHidden } from "./hidden_text.ts";
import type { Problem } from "./problem.ts";

export const LONGEST_NAME = 64;
export const LONGEST_DESCRIPTION = 1024;

interface Rule {
  readonly rule: string;
  readonly field: string;
  /** Whether a local skill that breaks it is left out, rather than warned of. */
  readonly fatal: boolean;
  /** Whether the open specification asks for it, wherever the skill lies. */
  readonly open: boolean;
  /** What is wrong, or `undefined`. */
  readonly check: (value: Value | undefined, directory: string) => string | undefined;
}

const text = (value: Value | undefined): string => typeof value === "string" ? value : "";
const length = (value: string): number => [...value].length;

const RULES: readonly Rule[] = [
  {
    rule: "name-required",
    field: "name",
    fatal: false,
    open: true,
    check: (value) => text(value).trim() === "" ? "field 'name' in SKILL.md is required" : undefined,
  },
  {
    rule: "name-length",
    field: "name",
    fatal: false,
    open: true,
    check: (value) =>
      length(text(value)) > LONGEST_NAME
        ? `field 'name' in SKILL.md must be at most ${LONGEST_NAME} characters, but has ${
          length(text(value))
        }`
        : undefined,
  },
  {
    rule: "name-form",
    field: "name",
    fatal: false,
    open: true,
    check: (value) =>
      text(value) !== "" && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text(value))
        ? "field 'name' in SKILL.md must be lower-case letters, digits and single hyphens between them, such as pdf-forms"
        : undefined,
  },
  {
    rule: "name-reserved",
    field: "name",
    fatal: false,
    open: false,
    check: (value) =>
      /anthropic|claude/.test(text(value)) || text(value) === "latest"
        ? "field 'name' in SKILL.md must not contain the reserved words anthropic or claude, nor be latest"
        : undefined,
  },
  {
    rule: "name-folder",
    field: "name",
    fatal: false,
    open: false,
    check: (value, directory) =>
      directory !== "" && text(value) !== "" && text(value) !== directory
        ? `field 'name' in SKILL.md must equal the folder: rename the folder "${directory}" or the skill "${
          text(value)
        }"`
        : undefined,
  },
  {
    rule: "description-required",
    field: "description",
    fatal: true,
    open: true,
    check: (value) =>
      text(value).trim() === ""
        ? "field 'description' in SKILL.md is required: say what the skill does and when to use it"
        : undefined,
  },
  {
    rule: "description-length",
    field: "description",
    fatal: false,
    open: true,
    check: (value) =>
      length(text(value)) > LONGEST_DESCRIPTION
        ? `field 'description' in SKILL.md must be at most ${LONGEST_DESCRIPTION} characters, but has ${
          length(text(value))
        }`
        : undefined,
  },
  {
    rule: "description-markup",
    field: "description",
    fatal: false,
    open: false,
    check: (value) =>
      /<\/?[a-zA-Z][^<>]*>/.test(text(value))
        ? "field 'description' in SKILL.md must not contain XML tags"
        : undefined,
  },
  {
    rule: "compatibility-length",
    field: "compatibility",
    fatal: false,
    open: true,
    check: (value) =>
      length(text(value)) > 500
        ? "field 'compatibility' in SKILL.md must be at most 500 characters"
        : undefined,
  },
];

/**
 * Every rule that a SKILL.md breaks, in order.
 * @param directory the folder that it lies in; empty when that has no name
 */
export function findProblems(
  { fields, lines, source }: SkillMarkdown,
  directory: string,
): { readonly problem: Problem; readonly fatal: boolean }[] {
  const found: { problem: Problem; fatal: boolean }[] = [];
  for (const { rule, field, fatal, check } of RULES) {
    const value = fields.get(field);
    const wrong = value !== undefined && typeof value !== "string"
      ? `field '${field}' in SKILL.md must be text`
      : check(value, directory);
    const line = lines.get(field);
    if (wrong && !found.some(({ problem }) => problem.message === wrong)) {
      found.push({ problem: { file: "SKILL.md", line, rule, message: wrong }, fatal });
    }
  }
  // Escapes in YAML may hide in the description what the file does not show.
  const inSource = findHidden(source);
  const hidden = inSource ?? findHidden(text(fields.get("description")));
  if (hidden) {
    const message = `must not contain hidden characters, but has ${hidden.point}: remove it`;
    const line = inSource ? inSource.line : lines.get("description");
    found.push({ problem: { file: "SKILL.md", line, rule: "hidden-characters", message }, fatal: false });
  }
  return found;
}

/** Front matter as it is told to others, who rely on both members. */
export type FrontMatter = {
  readonly name: string;
  readonly description: string;
  readonly [name: string]: Json;
};

/**
 * All of the front matter, when it is as the open specification has it; a local skill's may be worse. Clients that find
 * one skill in a list that is not, may refuse the whole list.
 */
export function readFrontMatter({ fields, json }: SkillMarkdown): FrontMatter | undefined {
  // What is 42 without quotes is a number to everybody else.
  const { name, description, compatibility = "-", metadata = {} } = json;
  const isTyped =
    [name, description, compatibility].every((each) => typeof each === "string" && each !== "") &&
    typeof metadata === "object" && metadata !== null && !Array.isArray(metadata) &&
    Object.values(metadata).every((each) => typeof each === "string");
  const isGood = isTyped &&
    RULES.every(({ open, field, check }) => !open || check(fields.get(field), "") === undefined);
  return isGood ? json as FrontMatter : undefined;
}

/** The description as one line, however many it was written on; empty when there is none. */
export function descriptionOf({ fields }: SkillMarkdown): string {
  return text(fields.get("description")).replace(/\s*[\r\n\u0085\u2028\u2029]\s*/g, " ").trim();
}
