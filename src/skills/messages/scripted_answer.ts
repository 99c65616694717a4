/**
 * The text of the scripted model's answer: what it is, which skills it chose by which words, and what it loaded.
 *
 * @module
 */
import { estimateTokens } from "../package/tokens.ts";
import type { Turn } from "./request.ts";
import type { Match } from "./word_match.ts";

/** Characters of instructions and files that an answer repeats. */
const MAX_REPEATED_CHARACTERS = 1500;

/** What the conversation shows of a skill: its instructions, or (with `path`) a file. */
export interface Loaded {
  readonly name: string;
  readonly path: string | undefined;
  readonly text: string;
  readonly files: readonly string[];
}

/** The user's last text, and the number of rounds with tool calls since. */
export function readTask(turns: readonly Turn[]): { text: string; rounds: number } {
  const texts = turns.map(({ role, content }) => {
    if (role !== "user") return "";
    if (typeof content === "string") return content;
    return content.flatMap(({ type, text }) => type === "text" ? [String(text)] : []).join("\n");
  });
  const last = texts.findLastIndex((text) => text.trim() !== "");
  const rounds =
    turns.slice(last + 1).filter(({ role, content }) =>
      role === "assistant" && typeof content !== "string" && content.some(({ type }) => type === "tool_use")
    ).length;
  return { text: texts[last] ?? "", rounds };
}

/** The answer when no skill or file is left to load. */
export function writeAnswer(
  task: string,
  skills: readonly { readonly name: string }[],
  chosen: readonly Match[],
  loaded: readonly Loaded[],
): string {
  const parts = [
    "This is the scripted model that is built into Trivet, not a language model. It matches words of the task " +
    "against the names and descriptions of skills, and shows what a language model would receive.",
    `The task: ${JSON.stringify(truncate(task, 200))}.`,
  ];
  if (skills.length === 0) parts.push("The request has no skills.");
  else if (chosen.length === 0) {
    const names = skills.map(({ name }) => name).join(", ");
    parts.push(`No word of the task is in the name or description of a skill. Available skills: ${names}.`);
  }
  for (const { index, words } of chosen) {
    const { name } = skills[index]!;
    parts.push(
      `The skill ${name} was chosen ${
        words.length === 0 ? "by its name" : `by the words: ${words.join(", ")}`
      }.`,
    );
    const shown = loaded.filter((each) => each.name === name);
    if (shown.length === 0) parts.push("It could not be loaded.");
    for (const { path, text } of shown) {
      const what = path === undefined ? "its instructions" : path;
      parts.push(
        `Loaded ${what}, about ${estimateTokens(text)} tokens:\n\n${truncate(text, MAX_REPEATED_CHARACTERS)}`,
      );
    }
  }
  return parts.join("\n\n");
}

function truncate(text: string, limit: number): string {
  return text.length <= limit
    ? text
    : `${text.slice(0, limit).toWellFormed()} [truncated after ${limit} of ${text.length} characters]`;
}
