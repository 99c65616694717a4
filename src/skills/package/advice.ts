/**
 * Warnings and advice about a valid SKILL.md: keys outside the open specification
 * (https://agentskills.io/specification), values that YAML reads as something other than a string, levels that cost many
 * tokens, and a description that does not say when to use the skill.
 *
 * @module
 */
import type { SkillMarkdown } from "./front_matter.ts";
import { countLineEnds } from "../../text/line_ends.ts";
import type { Json } from "../../store/store.ts";
import type { Problem } from "./problem.ts";
import { descriptionOf, type Subject, textOf } from "./rules.ts";
import type { SkillTokens } from "./tokens.ts";

/** The keys of the open specification. */
const SPECIFIED = ["allowed-tools", "compatibility", "description", "license", "metadata", "name"];
/** Metadata is part of every request, whether the skill is used or not. */
const MAX_METADATA_TOKENS = 50;
const MAX_INSTRUCTION_TOKENS = 5000;
const MAX_INSTRUCTION_LINES = 500;
/** What to do about a SKILL.md that is too long. */
export const MOVE_DETAILS = "move details into separate files, which are read only when they are needed";
/** Words that say when to use a skill. */
const WHEN =
  /\b(when(ever)?|if|use[ds]?|using|trigger\w*|before|after|during|while|asks?|asked|mentions?|invoke[ds]?)\b/i;

type Find = (subject: Subject, tokens: SkillTokens) => readonly Problem[];

/** What some clients or models handle badly. */
export function findWarnings(subject: Subject, tokens: SkillTokens): Problem[] {
  return [findUnquoted, findMetadata, findToolList, findLargeInstructions].flatMap((find) =>
    find(subject, tokens)
  );
}

/** Style and cost: only in the report of a dry run. */
export function adviseOn(subject: Subject, tokens: SkillTokens): Problem[] {
  return [findMissingWhen, findCosts].flatMap((find) => find(subject, tokens));
}

/** Keys that the open specification does not know. */
export function findUnknownKeys({ markdown: { lines }, unknownKeys }: Subject): Problem[] {
  return [...lines].filter(([key]) => !SPECIFIED.includes(key)).map(([key, line]) => {
    const usual = key.replace(/([a-z])([A-Z])/g, "$1-$2").replace(/[_ ]/g, "-").toLowerCase();
    const hint = SPECIFIED.includes(usual)
      ? `write ${usual}`
      : "move your own fields under metadata; keep fields that a client reads";
    const message = unknownKeys === "refuse"
      ? `unexpected key in SKILL.md frontmatter: '${key}': properties must be in (${SPECIFIED.join(", ")})`
      : `field '${key}' is not in the open specification; it is kept`;
    return problem("unknown-key", line, message, hint);
  });
}

/** Unquoted numbers and booleans are not strings to other YAML readers. */
const findUnquoted: Find = ({ markdown }) =>
  ["name", "description", "license", "compatibility", "allowed-tools"].flatMap((field) => {
    const kind = kindOf(markdown.json[field]);
    if (kind !== "a number" && kind !== "a boolean") return [];
    const message = `YAML reads field '${field}' in SKILL.md as ${kind}, so strict clients omit the skill`;
    const hint = `put quotes around the value: ${field}: "${textOf(markdown, field)}"`;
    return [problem("unquoted-text", markdown.lines.get(field), message, hint)];
  });

const findMetadata: Find = ({ markdown: { fields, json, lines } }) => {
  const metadata = fields.get("metadata");
  if (json.metadata === null) {
    const message = "field 'metadata' in SKILL.md is empty, so strict clients omit the skill";
    return [problem("metadata-text", lines.get("metadata"), message, "remove the field")];
  }
  if (!(metadata instanceof Map)) return [];
  const kinds = json.metadata as { readonly [name: string]: Json };
  const odd = Object.entries(kinds).filter(([, value]) => typeof value !== "string");
  const [first] = odd;
  if (first === undefined) return [];
  const [name, value] = first;
  const written = metadata.get(name);
  const others = odd.length > 1 ? `, and ${odd.length - 1} more` : "";
  const message = `field 'metadata' in SKILL.md must contain only strings, but '${name}' is ${
    kindOf(value)
  }${others}; strict clients omit the skill`;
  const hint = typeof written === "string"
    ? `put quotes around the value: ${name}: "${written}"`
    : "write it as one string, or as several fields";
  return [problem("metadata-text", lines.get("metadata"), message, hint)];
};

const findToolList: Find = ({ markdown: { fields, lines } }) => {
  const value = fields.get("allowed-tools");
  if (!Array.isArray(value)) return [];
  const tools = value.filter((tool) => typeof tool === "string").join(" ").slice(0, 200).toWellFormed();
  const message = "field 'allowed-tools' in SKILL.md is a list, which some clients do not read";
  return [
    problem("allowed-tools-list", lines.get("allowed-tools"), message, `write allowed-tools: ${tools}`),
  ];
};

const findMissingWhen: Find = ({ markdown }) => {
  const description = descriptionOf(markdown);
  // Letters outside ASCII suggest another language, whose words are not in the list.
  if (description === "" || WHEN.test(description) || /[^\P{L}A-Za-z]/u.test(description)) return [];
  const message =
    "the description does not seem to say when to use the skill, and models choose skills by their description";
  const hint = 'add a sentence such as "Use when …"';
  return [problem("description-when", markdown.lines.get("description"), message, hint)];
};

const findLargeInstructions: Find = ({ markdown }, { instructions }) => {
  if (instructions <= MAX_INSTRUCTION_TOKENS) return [];
  const message =
    `SKILL.md has about ${instructions} tokens of instructions: keep it under ${MAX_INSTRUCTION_TOKENS}`;
  return [problem("instructions-tokens", bodyLine(markdown), message, MOVE_DETAILS)];
};

const findCosts: Find = ({ markdown }, { metadata }) => {
  const found: Problem[] = [];
  if (metadata > MAX_METADATA_TOKENS) {
    const message =
      `name and description cost about ${metadata} tokens in every request: aim for 30 to ${MAX_METADATA_TOKENS}`;
    found.push(
      problem("metadata-tokens", markdown.lines.get("description"), message, "shorten the description"),
    );
  }
  if (markdown.body.trim() === "") {
    const message = "there are no instructions below the front matter";
    found.push(problem("instructions-empty", undefined, message, "write what to do when the skill is used"));
  }
  const lines = countLines(markdown.body);
  if (lines > MAX_INSTRUCTION_LINES) {
    const message = `SKILL.md has ${lines} lines of instructions: keep it under ${MAX_INSTRUCTION_LINES}`;
    found.push(problem("instructions-lines", bodyLine(markdown), message, MOVE_DETAILS));
  }
  return found;
};

/** The first line of the instructions: after the line `---` that closes the front matter. */
function bodyLine({ source }: SkillMarkdown): number {
  const end = /(?:\r\n|\r|\n)---(?![^\r\n])/.exec(source)!.index;
  return countLineEnds(source, 0, end) + 3;
}

function countLines(text: string): number {
  return countLineEnds(text) + (text === "" || /[\r\n]$/.test(text) ? 0 : 1);
}

function kindOf(value: Json | undefined): string {
  if (Array.isArray(value)) return "a list";
  if (value === null) return "null";
  if (typeof value === "boolean") return "a boolean";
  return typeof value === "object" ? "a map" : `a ${typeof value === "string" ? "string" : typeof value}`;
}

function problem(rule: string, line: number | undefined, message: string, hint: string): Problem {
  return { file: "SKILL.md", line, rule, message, hint };
}
