/**
 * An exchange as lines that can be read at a glance: forms and queries a parameter a line, JSON indented, of a page its
 * title and forms, and no more of long bodies than shows what they are.
 *
 * @module
 */
import type { Exchange } from "../runner/world.ts";

const MAX_LINES = 24;
const MAX_LINE_CHARACTERS = 400;
const MAX_FIELD_CHARACTERS = 160;
/** Fields that are read to their end. */
const WHOLE = /^(?:location|www-authenticate|authorization|link):/;

export function exchangeLines({ request, answer }: Exchange): string[] {
  return [
    ...part(request).map(marked("> ")),
    "",
    ...part(answer).map(marked("< ")),
  ];
}

function marked(mark: string): (line: string, at: number) => string {
  return (line, at) => ((at === 0 ? mark : "  ") + line).trimEnd();
}

function part(text: string): string[] {
  const isHttp = /^(?:[A-Z]+ \/|\d{3}(?:\n|$))/.test(text);
  if (!isHttp) return cut(text.split("\n").flatMap((line) => bodyLines(line)));
  const end = text.indexOf("\n\n");
  const [start = "", ...fields] = (end < 0 ? text : text.slice(0, end)).trimEnd().split("\n");
  const body = end < 0 ? "" : text.slice(end + 2);
  const shown = fields.map((field) =>
    WHOLE.test(field) || field.length <= MAX_FIELD_CHARACTERS
      ? field
      : `${field.slice(0, MAX_FIELD_CHARACTERS)}…`
  );
  const type = fields.find((field) => field.startsWith("content-type:")) ?? "";
  const lines = /html/.test(type) ? pageLines(body) : bodyLines(body, type);
  return [
    ...parameters(start),
    ...shown.flatMap((field) => /^location:/.test(field) ? parameters(field) : [field]),
    ...(lines.length > 0 ? ["", ...cut(lines)] : []),
  ];
}

function cut(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES).map((line) =>
    line.length <= MAX_LINE_CHARACTERS
      ? line
      : `${line.slice(0, MAX_LINE_CHARACTERS)}… (${line.length} characters)`
  );
  return lines.length <= MAX_LINES ? shown : [...shown, `… (${lines.length - MAX_LINES} lines more)`];
}

function bodyLines(body: string, type = ""): string[] {
  if (body.trim() === "") return [];
  if (type.includes("x-www-form-urlencoded")) return body.replaceAll("&", "\n&").split("\n");
  const boundary = /boundary="?([^";]+)/.exec(type)?.[1];
  if (boundary) {
    const mark = `--${boundary}`;
    return body.split(mark).map(withoutBytes).join(mark).trimEnd().split(/\r?\n/);
  }
  try {
    return jsonLines(JSON.parse(body), "");
  } catch {
    return withoutBytes(body).trimEnd().split(/\r?\n/);
  }
}

/** What is no text (an archive) tells nothing; of a part of a form its fields do. */
function withoutBytes(text: string): string {
  if (!text.includes("\ufffd")) return text;
  const [fields] = /^[^\ufffd]*?\r?\n\r?\n/.exec(text) ?? [""];
  return `${fields}(bytes)\n`;
}

/** What fits into a line stays in one. */
function jsonLines(value: unknown, indent: string, before = "", after = ""): string[] {
  const compact = JSON.stringify(value);
  const isShort = indent.length + before.length + compact.length <= 60;
  if (isShort || typeof value !== "object" || value === null) return [indent + before + compact + after];
  const isList = Array.isArray(value);
  const items = Object.entries(value).flatMap(([name, each], at, all) =>
    jsonLines(
      each,
      `${indent}  `,
      isList ? "" : `${JSON.stringify(name)}: `,
      at < all.length - 1 ? "," : "",
    )
  );
  return [indent + before + (isList ? "[" : "{"), ...items, indent + (isList ? "]" : "}") + after];
}

/** Parameters of an address, one a line. */
function parameters(line: string): string[] {
  const at = line.search(/[?#]/);
  if (at < 0) return [line];
  return [line.slice(0, at), ...line.slice(at).replaceAll("&", "\n&").split("\n").map((each) => `  ${each}`)];
}

function pageLines(page: string): string[] {
  const seen = page.match(/<title>[^<]*<\/title>|<(?:form|input|button)\b[^>]*>/g) ?? [];
  return [`(a page of ${page.length} characters, of which:)`, ...seen];
}
