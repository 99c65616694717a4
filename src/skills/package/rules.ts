/**
 * The rules for the contents of SKILL.md: the limits of the API, the open specification
 * (https://agentskills.io/specification) and what hosted services refuse. One row per rule. The `strict` profile
 * (uploads) refuses what the `lenient` profile (local folders) reports as a warning. `RULES.md` lists the codes.
 *
 * Stricter than the specification's reference validator: names are ASCII. More lenient: unknown keys are kept.
 *
 * @module
 */
import type { Json } from "../../store/store.ts";
import type { SkillMarkdown, Value } from "./front_matter.ts";
import { findAllHidden, findHidden } from "../../text/hidden_text.ts";
import type { Problem } from "./problem.ts";

/** `strict` for uploads, `lenient` for local folders. */
export type Profile = "strict" | "lenient";

export interface MarkdownRules {
  /** Whether keys beyond the open specification's refuse an upload. */
  readonly unknownKeys?: "keep" | "refuse";
  /** Whether names with the words `anthropic` and `claude` are refused; they are, when left out. */
  readonly reservedNames?: boolean;
}

/** A SKILL.md, the name of its folder (empty when there is none), and the rules to apply. */
export interface Subject extends MarkdownRules {
  readonly markdown: SkillMarkdown;
  readonly directory: string;
}

/** What a rule has found. */
export interface Finding {
  readonly message: string;
  readonly hint?: string | undefined;
}

interface Rule {
  readonly rule: string;
  readonly field: string;
  /** Whether a local skill that breaks it is skipped, rather than served with a warning. */
  readonly fatal?: true;
  /** Whether it is a rule of the open specification. */
  readonly open?: true;
  readonly check: (subject: Subject) => Finding | undefined;
}

export const MAX_NAME_CHARACTERS = 64;
export const MAX_DESCRIPTION_CHARACTERS = 1024;
const MAX_COMPATIBILITY_CHARACTERS = 500;
/** Lines with hidden characters that are reported one by one. */
const MAX_HIDDEN_LINES = 10;
const MARKUP = /<[!?/]?[a-zA-Z[-][^<>]*>/;

const RULES: readonly Rule[] = [
  { rule: "name-text", field: "name", open: true, check: mustBeText("name") },
  {
    rule: "name-required",
    field: "name",
    open: true,
    check: mustBeThere("name", "give the folder's name, such as pdf-forms"),
  },
  { rule: "name-length", field: "name", open: true, check: atMost("name", MAX_NAME_CHARACTERS) },
  {
    rule: "name-form",
    field: "name",
    open: true,
    check({ markdown }) {
      const name = textOf(markdown, "name");
      if (/^([a-z0-9]+(-[a-z0-9]+)*)?$/.test(name) || MARKUP.test(name)) return undefined;
      const likely = name.normalize("NFKD").toLowerCase().replace(/\p{M}/gu, "").replace(/[^a-z0-9]+/g, "-")
        .replace(/^-|-$/g, "");
      return {
        message:
          "field 'name' in SKILL.md must contain only lowercase letters (a-z), digits and single hyphens between them",
        hint: `such as ${likely.slice(0, MAX_NAME_CHARACTERS) || "pdf-forms"}`,
      };
    },
  },
  { rule: "name-markup", field: "name", open: true, check: noMarkup("name") },
  {
    rule: "name-reserved",
    field: "name",
    check({ markdown, reservedNames = true }) {
      const name = textOf(markdown, "name");
      const message =
        "field 'name' in SKILL.md must not contain the reserved words anthropic or claude, and must not be latest";
      return reservedNames && /anthropic|claude/i.test(name) || name === "latest" ? { message } : undefined;
    },
  },
  {
    rule: "name-folder",
    field: "name",
    check({ markdown, directory }) {
      const name = textOf(markdown, "name");
      if (directory === "" || name === "" || name === directory) return undefined;
      return {
        message: `The folder name '${directory}' must match the skill name '${name}' in SKILL.md.`,
        hint: `rename the folder "${directory}" or the skill "${name}"`,
      };
    },
  },
  {
    rule: "description-text",
    field: "description",
    fatal: true,
    open: true,
    check: mustBeText("description"),
  },
  {
    rule: "description-required",
    field: "description",
    fatal: true,
    open: true,
    check: mustBeThere("description", "say what the skill does and when to use it"),
  },
  {
    rule: "description-length",
    field: "description",
    open: true,
    check: atMost("description", MAX_DESCRIPTION_CHARACTERS),
  },
  { rule: "description-markup", field: "description", check: noMarkup("description") },
  { rule: "license-text", field: "license", check: mustBeText("license") },
  { rule: "compatibility-text", field: "compatibility", open: true, check: mustBeText("compatibility") },
  {
    rule: "compatibility-empty",
    field: "compatibility",
    open: true,
    check({ markdown }) {
      const isEmpty = typeof markdown.fields.get("compatibility") === "string" &&
        textOf(markdown, "compatibility").trim() === "";
      const message = "field 'compatibility' in SKILL.md must not be empty";
      return isEmpty
        ? { message, hint: "say what the skill needs to run, or leave the field out" }
        : undefined;
    },
  },
  {
    rule: "compatibility-length",
    field: "compatibility",
    open: true,
    check: atMost("compatibility", MAX_COMPATIBILITY_CHARACTERS),
  },
  {
    rule: "metadata-map",
    field: "metadata",
    check({ markdown: { fields, json } }) {
      const value = fields.get("metadata");
      if (value === undefined || value instanceof Map || json.metadata === null) return undefined;
      const message = "field 'metadata' in SKILL.md must be a map of strings";
      return { message, hint: "write one indented line for each entry, such as author: Me" };
    },
  },
  {
    rule: "allowed-tools-text",
    field: "allowed-tools",
    check({ markdown: { fields } }) {
      const isMap = fields.get("allowed-tools") instanceof Map;
      const message = "field 'allowed-tools' in SKILL.md must be a string";
      return isMap ? { message, hint: "separate the tools with spaces: Read Bash(git:*)" } : undefined;
    },
  },
];

function mustBeText(field: string): Rule["check"] {
  return ({ markdown: { fields } }) => {
    const value = fields.get(field);
    if (value === undefined || typeof value === "string") return undefined;
    const hint = value instanceof Map
      ? "put quotes around a value that contains a colon"
      : "write one string, not a list";
    return { message: `field '${field}' in SKILL.md must be a string`, hint };
  };
}

function mustBeThere(field: string, hint: string): Rule["check"] {
  return ({ markdown }) => {
    const value = markdown.fields.get(field);
    const isThere = value !== undefined && typeof value !== "string" || textOf(markdown, field).trim() !== "";
    return isThere ? undefined : { message: `field '${field}' in SKILL.md is required`, hint };
  };
}

function atMost(field: string, most: number): Rule["check"] {
  return ({ markdown }) => {
    const { length } = [...textOf(markdown, field)];
    const message = `field '${field}' in SKILL.md must be at most ${most} characters, but has ${length}`;
    return length > most ? { message, hint: `shorten it by ${length - most}` } : undefined;
  };
}

function noMarkup(field: string): Rule["check"] {
  return ({ markdown }) => {
    const [tag] = MARKUP.exec(textOf(markdown, field)) ?? [];
    if (tag === undefined) return undefined;
    const hint = `write ${tag.slice(0, 40).toWellFormed()} without < and >`;
    return { message: `field '${field}' in SKILL.md must not contain XML tags`, hint };
  };
}

/** The text of a field as written; empty when it is missing, or null in YAML. */
export function textOf({ fields, json }: SkillMarkdown, field: string): string {
  const value = fields.get(field);
  return typeof value === "string" && json[field] !== null ? value : "";
}

/**
 * Applies all rules to a SKILL.md. `problems` refuse it under the profile, `warnings` do not.
 */
export function findProblems(
  subject: Subject,
  profile: Profile,
): { readonly problems: readonly Problem[]; readonly warnings: readonly Problem[] } {
  const { markdown } = subject;
  const problems: Problem[] = [];
  const warnings: Problem[] = [];
  for (const { rule, field, fatal, check } of RULES) {
    const found = check(subject);
    if (!found) continue;
    const line = markdown.lines.get(field);
    (profile === "strict" || fatal ? problems : warnings).push({ file: "SKILL.md", line, rule, ...found });
  }
  (profile === "strict" ? problems : warnings).push(...findHiddenCharacters(markdown));
  return { problems, warnings };
}

function findHiddenCharacters({ source, fields, lines }: SkillMarkdown): Problem[] {
  const found = findAllHidden(source, MAX_HIDDEN_LINES);
  if (found.length === 0) {
    // YAML escapes can put a character into a value that is not in the file's text.
    for (const [name, value] of fields) {
      const hidden = findHidden([name, ...textsOf(value)].join("\n"));
      if (hidden) found.push({ point: hidden.point, line: lines.get(name)! });
    }
  }
  return found.map(({ point, line }) => ({
    file: "SKILL.md",
    line,
    rule: "hidden-characters",
    message: `must not contain hidden characters, but contains ${point}`,
    hint: "remove it: readers do not see it, but models do",
  }));
}

function textsOf(value: Value): readonly string[] {
  if (typeof value === "string") return [value];
  return value instanceof Map
    ? [...value].flatMap(([name, each]) => [name, ...textsOf(each)])
    : (value as readonly Value[]).flatMap(textsOf);
}

/** Front matter as clients get it: both named members are always there. */
export type FrontMatter = {
  readonly name: string;
  readonly description: string;
  readonly [name: string]: Json;
};

/**
 * The front matter, if it conforms to the open specification; otherwise `undefined`. A client may reject a whole list
 * because of one entry that does not conform.
 */
export function readFrontMatter(markdown: SkillMarkdown): FrontMatter | undefined {
  // An unquoted 42 is a number to other YAML readers.
  const { name, description, compatibility = "-", metadata = {} } = markdown.json;
  const isTyped =
    [name, description, compatibility].every((each) => typeof each === "string" && each !== "") &&
    typeof metadata === "object" && metadata !== null && !Array.isArray(metadata) &&
    Object.values(metadata).every((each) => typeof each === "string");
  const subject = { markdown, directory: "" };
  const isGood = isTyped && RULES.every(({ open, check }) => !open || check(subject) === undefined);
  return isGood ? markdown.json as FrontMatter : undefined;
}

/** The description as one line; empty when there is none. */
export function descriptionOf(markdown: SkillMarkdown): string {
  const lines = textOf(markdown, "description").split(/[\r\n\u0085\u2028\u2029]/);
  return lines.map((line) => line.trim()).filter((line) => line !== "").join(" ");
}
