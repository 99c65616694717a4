/**
 * What a SKILL.md must say: the interface's bounds, the open specification (https://agentskills.io/specification) and
 * what hosted services refuse. One row per rule; `strict` (uploads) refuses what `lenient` (local folders) warns of.
 *
 * @module
 */
import type { SkillMarkdown, Value } from "./front_matter.ts";
import type { Problem } from "./problem.ts";

export const LONGEST_NAME = 64;
export const LONGEST_DESCRIPTION = 1024;

interface Rule {
  readonly rule: string;
  readonly field: string;
  /** Whether a local skill that breaks it is left out, rather than warned of. */
  readonly fatal: boolean;
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
    check: (value) => text(value).trim() === "" ? "field 'name' in SKILL.md is required" : undefined,
  },
  {
    rule: "name-length",
    field: "name",
    fatal: false,
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
    check: (value) =>
      text(value) !== "" && !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(text(value))
        ? "field 'name' in SKILL.md must be lower-case letters, digits and single hyphens between them, such as pdf-forms"
        : undefined,
  },
  {
    rule: "name-reserved",
    field: "name",
    fatal: false,
    check: (value) =>
      /anthropic|claude/.test(text(value)) || text(value) === "latest"
        ? "field 'name' in SKILL.md must not contain the reserved words anthropic or claude, nor be latest"
        : undefined,
  },
  {
    rule: "name-folder",
    field: "name",
    fatal: false,
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
    check: (value) =>
      text(value).trim() === ""
        ? "field 'description' in SKILL.md is required: say what the skill does and when to use it"
        : undefined,
  },
  {
    rule: "description-length",
    field: "description",
    fatal: false,
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
    check: (value) =>
      /<\/?[a-zA-Z][^>]*>/.test(text(value))
        ? "field 'description' in SKILL.md must not contain XML tags"
        : undefined,
  },
  {
    rule: "compatibility-length",
    field: "compatibility",
    fatal: false,
    check: (value) =>
      length(text(value)) > 500
        ? "field 'compatibility' in SKILL.md must be at most 500 characters"
        : undefined,
  },
];

/** Characters that a reader does not see, or that turn text round; well-formed emoji aside. */
const HIDDEN =
  // deno-lint-ignore no-control-regex
  /[\u0000-\u0008\u000b\u000c\u000e-\u001f\u007f-\u009f\u200b\u200e\u200f\u202a-\u202e\u2060-\u2064\u2066-\u206f\ufeff\u{e0000}-\u{e007f}]|(?<![\p{Extended_Pictographic}\ufe0f\u{1f3fb}-\u{1f3ff}])\u200d/u;
const FLAGS =
  /\u{1f3f4}\u{e0067}\u{e0062}(\u{e0065}\u{e006e}\u{e0067}|\u{e0073}\u{e0063}\u{e0074}|\u{e0077}\u{e006c}\u{e0073})\u{e007f}/gu;

/**
 * Every rule that a SKILL.md breaks, in order.
 * @param directory the folder that it lies in; empty when that has no name
 */
export function findProblems(
  { fields, lines, body }: SkillMarkdown,
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
  for (
    const [place, content] of [["description", text(fields.get("description"))], ["body", body]] as const
  ) {
    const hidden = HIDDEN.exec(content.replace(FLAGS, ""));
    if (!hidden) continue;
    const point = "U+" + hidden[0].codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
    const message =
      `the ${place} of SKILL.md must not contain hidden characters, but has ${point}: remove it`;
    found.push({
      problem: { file: "SKILL.md", line: lines.get(place), rule: "hidden-characters", message },
      fatal: false,
    });
  }
  return found;
}
