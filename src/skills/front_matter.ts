/**
 * SKILL.md taken apart: front matter between lines of exactly `---`, then the body. The YAML is read in the
 * failsafe schema (every scalar is text, so that a version of 1.10 stays 1.10), without anchors, aliases, tags and
 * merges, under caps that are looked at before the parser is.
 *
 * @module
 */
import { type Document, isMap, isScalar, isSeq, parseDocument, visit } from "yaml";
import type { Problem } from "./problem.ts";

export type Value = string | readonly Value[] | ReadonlyMap<string, Value>;

export interface SkillMarkdown {
  readonly fields: ReadonlyMap<string, Value>;
  /** The line of each field in the file, from 1. */
  readonly lines: ReadonlyMap<string, number>;
  readonly body: string;
}

const MOST_BYTES = 16 * 1024;
const MOST_LINES = 200;
const MOST_KEYS = 64;
const DEEPEST = 4;
const FORBIDDEN = new Set(["__proto__", "constructor", "prototype"]);

/** The parts of a SKILL.md, or the one problem that keeps it from being read. */
export function readSkillMarkdown(bytes: Uint8Array): SkillMarkdown | Problem {
  const refuse = (rule: string, message: string, line?: number): Problem => ({
    file: "SKILL.md",
    line,
    rule,
    message,
  });
  let text: string;
  try {
    // The decoder takes one byte order mark away.
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    return refuse("encoding", "must be UTF-8: save the file in that encoding");
  }
  if (text.includes("\u0000")) return refuse("encoding", "must be text: it has a NUL character");
  const lines = text.split(/\r\n|\r|\n/);
  if (lines[0] !== "---") {
    return refuse("front-matter", 'must begin with front matter: a line "---", then name and description', 1);
  }
  const end = lines.indexOf("---", 1);
  if (end < 0) return refuse("front-matter", 'must end its front matter with a line "---"', lines.length);
  const block = lines.slice(1, end).join("\n");
  if (end > MOST_LINES || block.length > MOST_BYTES) {
    return refuse(
      "front-matter-size",
      `must have at most ${MOST_LINES} lines and ${MOST_BYTES} characters of front matter`,
    );
  }
  const read = readYaml(block);
  if ("problem" in read) {
    return refuse("yaml", `malformed YAML frontmatter in SKILL.md: ${read.problem}`, read.line + 1);
  }
  return { ...read, body: lines.slice(end + 1).join("\n") };
}

type YamlProblem = { readonly problem: string; readonly line: number };

function readYaml(block: string): { fields: Map<string, Value>; lines: Map<string, number> } | YamlProblem {
  const lineOf = (offset: number) => block.slice(0, offset).split("\n").length;
  // The parser compares each key with all others: too many are refused before it sees them.
  if ((block.match(/^[ \t-]*[^\s#].*:/gm)?.length ?? 0) > MOST_KEYS) {
    return { problem: `it has more than ${MOST_KEYS} keys`, line: 1 };
  }
  const document: Document = parseDocument(block, {
    schema: "failsafe",
    uniqueKeys: true,
    prettyErrors: false,
    logLevel: "silent",
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    const line = lineOf(error.pos[0]);
    const hint = /Nested mappings|Implicit keys/.test(error.message)
      ? "; a text with a colon needs quotes"
      : "";
    return { problem: error.message.split("\n")[0]! + hint, line };
  }
  let problem: YamlProblem | undefined;
  visit(document, (_key, node, path) => {
    const at = lineOf((node as { range?: [number] } | null)?.range?.[0] ?? 0);
    const found = path.length / 2 > DEEPEST + 1
      ? `it is nested deeper than ${DEEPEST}`
      : node !== null && typeof node === "object" &&
          ("anchor" in node && node.anchor || "source" in node && !("value" in node))
      ? "anchors and aliases are not allowed"
      : node !== null && typeof node === "object" && "tag" in node && node.tag &&
          !/^(tag:yaml\.org,2002:(str|map|seq)|!)$/.test(String(node.tag))
      ? "tags are not allowed"
      : undefined;
    if (found) {
      problem = { problem: found, line: at };
      return visit.BREAK;
    }
  });
  if (problem) return problem;
  if (!isMap(document.contents)) return { problem: "it must be fields and their values", line: 1 };
  const fields = new Map<string, Value>();
  const lines = new Map<string, number>();
  for (const { key, value } of document.contents.items) {
    const name = isScalar(key) ? String(key.value) : "";
    const line = lineOf((key as { range?: [number] } | null)?.range?.[0] ?? 0);
    if (name === "" || name === "<<" || FORBIDDEN.has(name)) {
      return { problem: `the field name "${name}" is not allowed`, line };
    }
    const converted = convert(value);
    if (converted === undefined) return { problem: "a field name inside a field is not allowed", line };
    fields.set(name, converted);
    // Line 1 of the file is the opening "---".
    lines.set(name, line + 1);
  }
  return { fields, lines };
}

function convert(node: unknown): Value | undefined {
  if (node === null) return "";
  if (isScalar(node)) return node.value === null ? "" : String(node.value);
  if (isSeq(node)) {
    const items = node.items.map(convert);
    return items.includes(undefined) ? undefined : items as Value[];
  }
  if (!isMap(node)) return undefined;
  const map = new Map<string, Value>();
  for (const { key, value } of node.items) {
    const name = isScalar(key) ? String(key.value) : "";
    const converted = convert(value);
    if (name === "" || name === "<<" || FORBIDDEN.has(name) || converted === undefined) return undefined;
    map.set(name, converted);
  }
  return map;
}

/**
 * The front matter with one-line values quoted that a bare colon makes unreadable: how most authors meant it.
 * For local folders only; an upload is told to mend it.
 */
export function quoteBareColons(bytes: Uint8Array): Uint8Array {
  const lines = new TextDecoder().decode(bytes).split("\n");
  const end = lines.findIndex((line, i) => i > 0 && line.trimEnd() === "---");
  for (let i = 1; i < end; i++) {
    const match = /^([A-Za-z][\w-]*): +([^"'|>&*!\[{#\s].*: .*?)\s*$/.exec(lines[i]!);
    if (match) lines[i] = `${match[1]}: ${JSON.stringify(match[2])}`;
  }
  return new TextEncoder().encode(lines.join("\n"));
}
