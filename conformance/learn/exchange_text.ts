/**
 * Formats an exchange for quick reading: one parameter per line, JSON indented, title and forms of a page,
 * and the start of long bodies.
 *
 * @module
 */
import type { Exchange } from "../runner/context.ts";

const MAX_LINES = 24;
const MAX_LINE_CHARACTERS = 400;
const MAX_FIELD_CHARACTERS = 160;
/** Header fields that are never cut. */
const UNCUT_FIELDS = /^(?:location|www-authenticate|authorization|link):/;

export function exchangeLines({ request, answer }: Exchange): string[] {
  return [
    ...formatMessage(request).map(prefixLines("> ")),
    "",
    ...formatMessage(answer).map(prefixLines("< ")),
  ];
}

function prefixLines(mark: string): (line: string, at: number) => string {
  return (line, at) => ((at === 0 ? mark : "  ") + line).trimEnd();
}

function formatMessage(text: string): string[] {
  const isHttp = /^(?:[A-Z]+ \/|\d{3}(?:\n|$))/.test(text);
  if (!isHttp) return cut(text.split("\n").flatMap((line) => bodyLines(line)));
  const end = text.indexOf("\n\n");
  const [start = "", ...fields] = (end < 0 ? text : text.slice(0, end)).trimEnd().split("\n");
  const body = end < 0 ? "" : text.slice(end + 2);
  const shown = fields.map((field) =>
    UNCUT_FIELDS.test(field) || field.length <= MAX_FIELD_CHARACTERS
      ? field
      : `${field.slice(0, MAX_FIELD_CHARACTERS)}…`
  );
  const type = fields.find((field) => field.startsWith("content-type:")) ?? "";
  const lines = /html/.test(type) ? pageLines(body) : bodyLines(body, type);
  return [
    ...splitParameters(start),
    ...shown.flatMap((field) => /^location:/.test(field) ? splitParameters(field) : [field]),
    ...(lines.length > 0 ? ["", ...cut(lines)] : []),
  ];
}

function cut(lines: readonly string[]): string[] {
  const shown = lines.slice(0, MAX_LINES).map((line) =>
    line.length <= MAX_LINE_CHARACTERS
      ? line
      : `${line.slice(0, MAX_LINE_CHARACTERS)}… (${line.length} characters)`
  );
  return lines.length <= MAX_LINES ? shown : [...shown, `… (${lines.length - MAX_LINES} more lines)`];
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

/** Replaces binary content, such as an archive. The header fields of a part are kept. */
function withoutBytes(text: string): string {
  if (!text.includes("\ufffd")) return text;
  const [fields] = /^[^\ufffd]*?\r?\n\r?\n/.exec(text) ?? [""];
  return `${fields}(bytes)\n`;
}

/** Formats JSON. A value that fits stays on one line. */
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

/** Puts each parameter of a URL on a line of its own. */
function splitParameters(line: string): string[] {
  const at = line.search(/[?#]/);
  if (at < 0) return [line];
  return [line.slice(0, at), ...line.slice(at).replaceAll("&", "\n&").split("\n").map((each) => `  ${each}`)];
}

function pageLines(page: string): string[] {
  const seen = page.match(/<title>[^<]*<\/title>|<(?:form|input|button)\b[^>]*>/g) ?? [];
  return [`(a page of ${page.length} characters, with:)`, ...seen];
}
