/**
 * The two parts of a SKILL.md: front matter, between lines of exactly `---`, and body. Apart from the reading of YAML, which
 * the body of an uploaded skill does not need.
 *
 * @module
 */
import { toLineFeeds } from "../../text/line_ends.ts";

export interface MarkdownParts {
  readonly frontMatter: string;
  readonly body: string;
}

/** The parts of a text with LF at the end of each line, or the line `---` that it lacks. */
export function splitMarkdown(text: string): MarkdownParts | "unopened" | "unclosed" {
  if (!/^---(?![^\n])/.test(text)) return "unopened";
  const end = /\n---(?![^\n])/.exec(text);
  if (!end) return "unclosed";
  return { frontMatter: text.slice(4, end.index), body: text.slice(end.index + end[0].length + 1) };
}

/** The body of a SKILL.md that was checked when it was uploaded. */
export function bodyOf(bytes: Uint8Array): string {
  const parts = splitMarkdown(new TextDecoder().decode(toLineFeeds(bytes)));
  return typeof parts === "string" ? "" : parts.body;
}
