/**
 * Level 1 of disclosure as a model reads it: names and descriptions. The same skills in the same order always give the same
 * bytes, which keeps prompt caches valid.
 *
 * @module
 */
import type { OpenSkill } from "../disclosure/library.ts";
import { MAX_DESCRIPTION_CHARACTERS } from "../package/rules.ts";
import { type Block, isObject, type Members, type MessagesBody } from "./request.ts";

/** The catalogue as text, with the names of the two tools in this request. */
export function writeCatalogue(
  skills: readonly Pick<OpenSkill, "name" | "description">[],
  load: string,
  read: string,
): string {
  const entries = skills.map(({ name, description }) =>
    `<skill>\n<name>${escape(name)}</name>\n<description>${
      escape(shorten(oneLine(description)))
    }</description>\n` +
    `<location>${escape(`/skills/${name}/SKILL.md`)}</location>\n</skill>`
  );
  return `Skills are instructions and files for specific kinds of tasks. If a task matches the description of a skill, ` +
    `call ${load} with its name before you start, then follow its instructions. Call ${read} to read a file that ` +
    `the instructions mention. You cannot run code here: work from the contents of the files.\n\n` +
    `<available_skills>\n${entries.join("\n")}\n</available_skills>`;
}

/**
 * Appends the catalogue to the client's `system`, so that its cached prefix stays valid. A cache breakpoint at the end of
 * the client's text is repeated after the catalogue if the request has fewer than four.
 */
export function addCatalogue(
  system: string | readonly Block[] | undefined,
  catalogue: string,
  breakpoints: number,
): Block[] {
  const own = typeof system === "string"
    ? system === "" ? [] : [{ type: "text", text: system }]
    : [...system ?? []];
  const last = own.at(-1)?.cache_control;
  const block = { type: "text", text: catalogue };
  return [
    ...own,
    isObject(last) && breakpoints < MAX_BREAKPOINTS ? { ...block, cache_control: last } : block,
  ];
}

/** A limit of the Messages API: https://docs.anthropic.com/en/docs/build-with-claude/prompt-caching */
const MAX_BREAKPOINTS = 4;

/** The number of `cache_control` members: of the request itself, its tools, and blocks of system and messages. */
export function countBreakpoints(body: MessagesBody): number {
  return countMark(body) + countMarks(body.tools, 0) + countMarks(body.system, 0) +
    body.messages.reduce((sum, { content }) => sum + countMarks(content, 1), 0);
}

/** Counts in blocks and, as tool results contain blocks, in those inside them. */
function countMarks(blocks: unknown, depth: number): number {
  if (!Array.isArray(blocks)) return 0;
  let count = 0;
  for (const block of blocks) {
    if (!isObject(block)) continue;
    count += countMark(block) + (depth > 0 ? countMarks(block.content, depth - 1) : 0);
  }
  return count;
}

function countMark(value: Members): number {
  return isObject(value.cache_control) ? 1 : 0;
}

/** Parses a catalogue in text: the inverse of {@linkcode writeCatalogue}. */
export function readCatalogue(text: string): { name: string; description: string }[] {
  const entry = /<skill>\n<name>([^<]*)<\/name>\n<description>([^<]*)<\/description>/g;
  return Array.from(text.matchAll(entry), ([, name, description]) => ({
    name: unescape(name!),
    description: unescape(description!),
  }));
}

const ENTITIES: Readonly<Record<string, string>> = {
  "&": "&amp;",
  "<": "&lt;",
  ">": "&gt;",
  '"': "&quot;",
  "'": "&#39;",
};
const CHARACTERS = new Map(Object.entries(ENTITIES).map(([character, entity]) => [entity, character]));

/** Escapes text, so that a skill cannot add elements to the catalogue. */
export function escape(text: string): string {
  return text.replace(/[&<>"']/g, (character) => ENTITIES[character]!);
}

function unescape(text: string): string {
  return text.replace(/&[a-z#0-9]{2,5};/g, (entity) => CHARACTERS.get(entity) ?? entity);
}

/** One line without invisible characters. U+200D joins emoji. */
function oneLine(text: string): string {
  return text.replace(/(?!\u200d)\p{Cf}/gu, "").replace(/[\s\p{Cc}]+/gu, " ").trim();
}

function shorten(text: string): string {
  const characters = [...text];
  if (characters.length <= MAX_DESCRIPTION_CHARACTERS) return text;
  return `${
    characters.slice(0, MAX_DESCRIPTION_CHARACTERS).join("")
  } [truncated after ${MAX_DESCRIPTION_CHARACTERS} of ${characters.length} characters]`;
}
