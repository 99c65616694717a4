/**
 * Reads the front matter of a SKILL.md. The YAML is read twice: as text (every scalar as written, so that a version of 1.10
 * stays 1.10), and as JSON in the core schema, as other readers see it. No anchors, aliases, tags and merge keys. Size limits
 * are checked before the parser runs.
 *
 * @module
 */
import {
  type Document,
  isAlias,
  isMap,
  isNode,
  isScalar,
  isSeq,
  Lexer,
  parseDocument,
  type Scalar,
  type YAMLMap,
} from "yaml";
import type { Json } from "../../store/store.ts";
import { countLineEnds, toLineFeeds } from "../../text/line_ends.ts";
import { splitMarkdown } from "./markdown_parts.ts";
import type { Problem } from "./problem.ts";

/** A scalar is its source text. */
export type Value = string | readonly Value[] | ReadonlyMap<string, Value>;

export interface SkillMarkdown {
  readonly fields: ReadonlyMap<string, Value>;
  /** The same, with scalars as the core schema has them (https://yaml.org/spec/1.2.2/#103-core-schema). */
  readonly json: { readonly [name: string]: Json };
  /** The line of each field in the file, from 1. */
  readonly lines: ReadonlyMap<string, number>;
  readonly body: string;
  /** The whole file, with LF at the end of each line, as in `body`. */
  readonly source: string;
}

const MAX_CHARACTERS = 16 * 1024;
const MAX_LINES = 200;
const MAX_KEYS = 64;
const MAX_DEPTH = 4;
/** Brackets that may be open at once: the parser recurses for each. */
const MAX_OPEN_BRACKETS = 64;
/** YAML tokens: names, values, indicators and spaces. */
const MAX_TOKENS = 2000;
const FORBIDDEN_NAMES = new Set(["", "<<", "__proto__", "constructor", "prototype"]);

/** The parts of a SKILL.md, or the problem that makes it unreadable. */
export function readSkillMarkdown(bytes: Uint8Array): SkillMarkdown | Problem {
  const text = decode(toLineFeeds(bytes));
  if (typeof text !== "string") return text;
  const parts = splitMarkdown(text);
  if (typeof parts === "string") return parts === "unopened" ? unopened(text) : unclosed(text);
  const { frontMatter, body } = parts;
  if (frontMatter.length > MAX_CHARACTERS || countLineEnds(frontMatter) >= MAX_LINES) {
    return refuse(
      "front-matter-size",
      `the front matter must have at most ${MAX_LINES} lines and ${MAX_CHARACTERS} characters`,
      1,
      "move details below the front matter, or into a separate file",
    );
  }
  try {
    return { ...readYaml(frontMatter), body, source: text };
  } catch (error) {
    if (!(error instanceof YamlProblem)) throw error;
    // Line 1 of the file is the opening "---".
    const line = lineOf(frontMatter, error.offset) + 1;
    const message = `malformed YAML frontmatter in SKILL.md: ${error.message}`;
    return refuse(error.rule, message, line, error.hint);
  }
}

function decode(bytes: Uint8Array): string | Problem {
  let text: string;
  try {
    // The decoder removes one byte order mark.
    text = new TextDecoder("utf-8", { fatal: true }).decode(bytes);
  } catch {
    const utf16 = bytes[0] === 0xff && bytes[1] === 0xfe || bytes[0] === 0xfe && bytes[1] === 0xff;
    const readable = new TextDecoder().decode(bytes);
    const line = utf16 ? 1 : lineOf(readable, readable.indexOf("\ufffd"));
    return refuse(
      "encoding",
      "must be encoded as UTF-8",
      line,
      `save the file as UTF-8${utf16 ? ", not UTF-16" : ""}`,
    );
  }
  const nul = text.indexOf("\u0000");
  if (nul < 0) return text;
  return refuse(
    "encoding",
    "must be text, but contains a NUL character",
    lineOf(text, nul),
  );
}

function unopened(text: string): Problem {
  const near = /^\s+---/.test(text)
    ? "remove the empty lines and spaces before it"
    : /^-{3}/.test(text)
    ? "write three hyphens and nothing else on the first line"
    : /^\s*[\w-]+:/.test(text)
    ? 'put a line "---" before the first field and after the last'
    : undefined;
  return refuse(
    "front-matter",
    'must begin with front matter: a line "---", then name and description',
    1,
    near,
  );
}

function unclosed(text: string): Problem {
  const near = /\n[ \t]*---+[ \t]*(?=\n|$)/.exec(text);
  if (!near) return refuse("front-matter", 'the front matter must end with a line "---"', 1);
  const line = lineOf(text, near.index) + 1;
  return refuse(
    "front-matter",
    'the front matter must end with a line "---"',
    line,
    "write three hyphens and nothing else on that line",
  );
}

function refuse(rule: string, message: string, line: number, hint?: string): Problem {
  return { file: "SKILL.md", line, rule, message, hint };
}

/** A problem at an offset of the YAML block; ends the parsing. */
class YamlProblem extends Error {
  readonly rule: string;
  readonly offset: number;
  readonly hint: string | undefined;

  constructor(rule: string, message: string, offset: number, hint?: string) {
    super(message);
    this.rule = rule;
    this.offset = offset;
    this.hint = hint;
  }
}

function readYaml(block: string): Pick<SkillMarkdown, "fields" | "json" | "lines"> {
  refuseNesting(block);
  refuseManyTokens(block);
  // Duplicate keys are found below: the parser's own check compares each key with all others.
  const document: Document = parseDocument(block, {
    schema: "core",
    uniqueKeys: false,
    prettyErrors: false,
    // "silent" would also keep a second document from being an error.
    logLevel: "error",
  });
  const [error] = [...document.errors, ...document.warnings];
  if (error) {
    throw new YamlProblem("yaml", error.message.split("\n")[0]!, error.pos[0], hintFor(error.message));
  }
  const lines = new Map<string, number>();
  // Line 1 of the file is the opening "---".
  const fields = convertDocument(document, (name, at) => lines.set(name, lineOf(block, at) + 1));
  return { fields, json: toJson(document.contents) as SkillMarkdown["json"], lines };
}

/** What to do about an error of the YAML parser, where its message needs knowledge of YAML. */
function hintFor(message: string): string | undefined {
  if (/Nested mappings|Implicit keys/.test(message)) return "put quotes around a value that contains a colon";
  if (/Tabs/.test(message)) return "indent with spaces, not tabs";
  if (/reserved character|indicator|Unexpected/.test(message)) {
    return "put quotes around a value that begins with a special character";
  }
  return undefined;
}

/** Refuses nesting that could exhaust the stack of the parser, which recurses for every level. */
function refuseNesting(block: string): void {
  const compact = /^[ \t]*(?:[-?][ \t]+){9}/m.exec(block);
  if (compact) throw tooDeep(compact.index);
  let open = 0;
  for (let i = 0; i < block.length; i++) {
    const code = block.charCodeAt(i);
    if (code === 91 /* [ */ || code === 123 /* { */) open++;
    else if (open > 0 && (code === 93 /* ] */ || code === 125 /* } */)) open--;
    if (open > MAX_OPEN_BRACKETS) throw tooDeep(i);
  }
}

/** Refuses more tokens than the parser, which takes some 10 microseconds for each, can read in one turn. */
function refuseManyTokens(block: string): void {
  let tokens = 0;
  let offset = 0;
  for (const token of new Lexer().lex(block)) {
    if (++tokens > MAX_TOKENS) {
      throw new YamlProblem("yaml-keys", `more than ${MAX_TOKENS} YAML tokens`, offset);
    }
    offset += token.length;
  }
}

function convertDocument(
  document: Document,
  onField: (name: string, offset: number) => void,
): Map<string, Value> {
  let keys = 0;

  function convertMap(items: YAMLMap["items"], depth: number, offset: number): Map<string, Value> {
    const map = new Map<string, Value>();
    for (const { key, value } of items) {
      const at = offsetOf(key) ?? offset;
      const name = isScalar(key) ? convert(key, depth, at) as string : "";
      if (FORBIDDEN_NAMES.has(name)) {
        throw new YamlProblem("yaml-field-name", `the field name "${name}" is not allowed`, at);
      }
      if (map.has(name)) {
        throw new YamlProblem("yaml-duplicate", `duplicate field "${name}"`, at, "keep one of them");
      }
      if (++keys > MAX_KEYS) throw new YamlProblem("yaml-keys", `more than ${MAX_KEYS} keys`, at);
      if (depth === 0) onField(name, at);
      map.set(name, convert(value, depth + 1, at));
    }
    return map;
  }

  function convert(node: unknown, depth: number, offset: number): Value {
    if (node === null) return "";
    const at = offsetOf(node) ?? offset;
    if (isAlias(node) || isNode(node) && "anchor" in node && node.anchor !== undefined) {
      throw new YamlProblem(
        "yaml-anchor",
        "anchors and aliases are not allowed",
        at,
        "write the value out, or put quotes around a value that begins with & or *",
      );
    }
    if (isNode(node) && node.tag !== undefined) {
      throw new YamlProblem(
        "yaml-tag",
        "tags are not allowed",
        at,
        "remove the tag, or put quotes around a value that begins with !",
      );
    }
    if (isScalar(node)) {
      const text = textOf(node);
      if (text.isWellFormed()) return text;
      // Strict JSON parsers refuse a whole list with it, and UTF-8 cannot encode it.
      throw new YamlProblem(
        "yaml-surrogate",
        "an escape must not be half of a surrogate pair",
        at,
        "write the character itself",
      );
    }
    if (depth > MAX_DEPTH) throw tooDeep(at);
    if (isSeq(node)) return node.items.map((item) => convert(item, depth + 1, at));
    if (isMap(node)) return convertMap(node.items, depth, at);
    throw new YamlProblem("yaml-fields", "must be a map of fields and values", at);
  }

  const { contents } = document;
  if (!isMap(contents)) {
    throw new YamlProblem(
      "yaml-fields",
      "must be a map of fields and values",
      0,
      "write lines such as name: pdf-forms",
    );
  }
  return convert(contents, 0, 0) as Map<string, Value>;
}

/** The source text, with quotes and folding undone. */
function textOf({ source, value }: Scalar): string {
  return source ?? (value === null ? "" : String(value));
}

/** A node that passed the conversion, as JSON. Infinite numbers become their text. */
function toJson(node: unknown): Json {
  if (isMap(node)) {
    return Object.fromEntries(node.items.map(({ key, value }) => [textOf(key as Scalar), toJson(value)]));
  }
  if (isSeq(node)) return node.items.map(toJson);
  if (!isScalar(node)) return null;
  const { value } = node;
  return typeof value === "number" && !Number.isFinite(value) ? textOf(node) : value as Json;
}

function offsetOf(node: unknown): number | undefined {
  return isNode(node) ? node.range?.[0] : undefined;
}

function lineOf(text: string, offset: number): number {
  return countLineEnds(text, 0, offset) + 1;
}

function tooDeep(offset: number): YamlProblem {
  return new YamlProblem("yaml-depth", `nested deeper than ${MAX_DEPTH} levels`, offset);
}
