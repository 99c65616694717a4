/**
 * Front matter with an unquoted value that contains a colon and a space (`description: Use when: always`), which YAML
 * reads as a second field. It is the most frequent reason for an unreadable skill. Local skills are read as if the value
 * had quotes, with a warning; uploads are refused with the correction as a hint.
 *
 * @module
 */
import { readSkillMarkdown, type SkillMarkdown } from "./front_matter.ts";
import type { Problem } from "./problem.ts";

/** Fields whose value is one string. */
const TEXTS = /^(?:name|description|license|compatibility)$/;
/** Begins with a YAML indicator: quoted, block, flow, anchor, alias, tag, comment, list, complex key, reserved. */
const BEGINS_WITH_INDICATOR = /^(?:["'|>&*!%@`[\]{},#]|[-?](?:[ \t]|$))/;
const COLON = /:(?:[ \t]|$)/;
const FIELD = /^([A-Za-z][\w-]*):(?:[ \t]+(.*))?$/;

/** Reads a SKILL.md as its author meant it, with the problem that it is for YAML. */
export function readDespiteColons(
  bytes: Uint8Array,
): { readonly read: SkillMarkdown | Problem; readonly repaired: Problem | undefined } {
  const read = readSkillMarkdown(bytes);
  const isSuspect = "rule" in read
    ? read.rule === "yaml"
    : [...read.fields].some(([name, value]) => TEXTS.test(name) && value instanceof Map);
  if (!isSuspect) return { read, repaired: undefined };
  const text = new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);
  const changed = quoteBareColons(text);
  const again = changed && readSkillMarkdown(new TextEncoder().encode(changed.text));
  if (!again || "rule" in again && again.rule === "yaml") return { read, repaired: undefined };
  const what = "rule" in read
    ? read.message
    : "malformed YAML frontmatter in SKILL.md: a string is read as a map";
  const repaired = {
    file: "SKILL.md",
    line: changed.line,
    rule: "yaml-bare-colon",
    message: `${what} (a value that contains a colon needs quotes)`,
    hint: changed.shown === undefined
      ? "put one pair of quotes around all lines of the value"
      : `put quotes around the value: ${changed.shown}`,
  };
  if ("rule" in again) return { read: again, repaired };
  return { read: { ...again, source: text.replace(/^\ufeff/, "") }, repaired };
}

/**
 * The text with quotes around values that contain a bare colon: values of top-level fields, also on the lines below the
 * name. Everything else, and the number of lines, stays. With the first line that has quotes, and its text if it is the only
 * one; `undefined` when no quotes are needed.
 */
export function quoteBareColons(
  text: string,
): { text: string; line: number; shown: string | undefined } | undefined {
  const end = /(?:\r\n|\r|\n)---(?![^\r\n])/.exec(text)?.index ?? 0;
  // Even items are lines, odd items are line ends.
  const parts = text.slice(0, end).split(/(\r\n|\r|\n)/);
  let changed: { readonly first: number; readonly last: number } | undefined;
  for (let i = 2; i < parts.length;) {
    const [, name = "", value = ""] = FIELD.exec(parts[i]!) ?? [];
    let next = i + 2;
    // Indented and empty lines continue the value.
    while (next < parts.length && /^(?:[ \t]|$)/.test(parts[next]!)) next += 2;
    const isBlankOrComment = (n: number) => /^[ \t]*(?:#|$)/.test(parts[n]!);
    let last = next - 2;
    while (last > i && isBlankOrComment(last)) last -= 2;
    let first = i;
    let at = parts[i]!.length - value.length;
    if (value === "" || value.startsWith("#")) {
      at = 0;
      do first += 2; while (first <= last && isBlankOrComment(first));
    }
    if (
      name !== "" && (first === i || TEXTS.test(name)) && first <= last && quoteLines(parts, first, last, at)
    ) {
      changed ??= { first, last };
    }
    i = next;
  }
  if (changed === undefined) return undefined;
  const shown = changed.first === changed.last ? parts[changed.first]!.trim() : undefined;
  return {
    text: parts.join("") + text.slice(end),
    line: changed.first / 2 + 1,
    shown: shown !== undefined && shown.length > 120 ? shown.slice(0, 119).toWellFormed() + "…" : shown,
  };
}

/** Puts one pair of quotes around a text on lines `first` to `last` that begins at `at`; says whether it needed them. */
function quoteLines(parts: string[], first: number, last: number, at: number): boolean {
  const begin = at + /^[ \t]*/.exec(parts[first]!.slice(at))![0].length;
  const texts: string[] = [];
  for (let i = first; i <= last; i += 2) texts.push(i === first ? parts[i]!.slice(begin) : parts[i]!);
  if (BEGINS_WITH_INDICATOR.test(texts[0]!)) return false;
  // A comment ends an unquoted value.
  if (texts.slice(0, -1).some((text) => /(?:^|[ \t])#/.test(text))) return false;
  const comment = /(?<![ \t])[ \t]+(?:#.*)?$/.exec(texts.at(-1)!)?.[0] ?? "";
  texts.push(texts.pop()!.slice(0, comment === "" ? undefined : -comment.length));
  if (!texts.some((text) => COLON.test(text))) return false;
  texts.forEach((text, n) => {
    const i = first + 2 * n;
    const head = n === 0 ? parts[i]!.slice(0, begin) + '"' : "";
    const tail = n === texts.length - 1 ? '"' + comment : "";
    parts[i] = head + text.replace(/[\\"]/g, "\\$&") + tail;
  });
  return true;
}
