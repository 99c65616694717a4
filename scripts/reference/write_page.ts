/**
 * A page of the API reference as Markdown.
 *
 * @module
 */
import { readDeclaration } from "./declaration.ts";
import type { Page } from "./entries.ts";
import type { Entry, ExportedSymbol, Tag } from "./read_symbols.ts";

/** Where a name is described, if on another page. */
export type FindPage = (symbol: ExportedSymbol) => Page;

export function writePage(
  page: Page,
  entries: readonly (readonly [string, Entry])[],
  find: FindPage,
): string {
  const headings = findHeadings(page, entries, find);
  const lines = [`# ${page.title}`, ""];
  for (const [name, { doc, symbols }] of entries) {
    if (entries.length > 1) lines.push(`## ${code(name)}`, "");
    lines.push(withoutName(toMarkdown(doc), name), "", "| name | what it is |", "| --- | --- |");
    for (const symbol of [...symbols].sort(byName)) {
      const at = find(symbol);
      const link = at === page
        ? `#${toAnchor(headings.get(idOf(symbol))!.heading)}`
        : `${at.name}.md#${toAnchor(symbol.name)}`;
      lines.push(`| [${code(symbol.name)}](${link}) | ${cell(firstSentence(symbol.doc))} |`);
    }
    lines.push("");
  }
  for (const { heading, symbol } of headings.values()) {
    lines.push(`## ${heading}`, "", toMarkdown(symbol.doc), "");
    const tags = symbol.tags.map(toLine).filter((line) => line !== undefined);
    if (tags.length > 0) lines.push(...tags, "");
    lines.push("```ts", readDeclaration(symbol.file, symbol.name), "```", "");
  }
  return lines.join("\n").trimEnd() + "\n";
}

/** The names that the page describes, in order. A name that several of its entries declare has the entry in its heading. */
function findHeadings(
  page: Page,
  entries: readonly (readonly [string, Entry])[],
  find: FindPage,
): Map<string, { heading: string; symbol: ExportedSymbol }> {
  const own = new Map<string, { entry: string; symbol: ExportedSymbol }>();
  for (const [entry, { symbols }] of entries) {
    for (const symbol of symbols) {
      if (find(symbol) === page && !own.has(idOf(symbol))) own.set(idOf(symbol), { entry, symbol });
    }
  }
  const all = [...own].sort(([, a], [, b]) => byName(a.symbol, b.symbol));
  const isShared = ({ name }: ExportedSymbol): boolean =>
    all.filter(([, { symbol }]) => toAnchor(symbol.name) === toAnchor(name)).length > 1;
  return new Map(
    all.map(([id, { entry, symbol }]) => [
      id,
      { symbol, heading: isShared(symbol) ? `${symbol.name} (${entry})` : symbol.name },
    ]),
  );
}

/** Identifies a declaration. */
export const idOf = ({ file, name }: ExportedSymbol): string => `${file} ${name}`;

const byName = (a: ExportedSymbol, b: ExportedSymbol): number => a.name < b.name ? -1 : 1;

/** The anchor of a heading, as renderers of Markdown make it. */
const toAnchor = (heading: string): string =>
  heading.toLowerCase().replace(/[^\w -]/g, "").replaceAll(" ", "-");

/** The comment of a module without the name of its entry, which stands in the heading. */
function withoutName(doc: string, entry: string): string {
  const prefix = `${code(entry)}: `;
  if (!doc.startsWith(prefix)) return doc;
  const rest = doc.slice(prefix.length);
  return rest[0]!.toUpperCase() + rest.slice(1);
}

const NAMES: Readonly<Record<string, string>> = { throws: "Throws", return: "Returns", default: "Default" };

function toLine({ kind, name, doc, ...more }: Tag): string | undefined {
  const text = toMarkdown(doc ?? "").replaceAll("\n", " ");
  if (kind === "param") return text === "" ? undefined : `- ${code(name!)}: ${text}`;
  if (!(kind in NAMES)) return undefined;
  const type = (more as { tsType?: { repr?: string } }).tsType?.repr;
  return `- ${NAMES[kind]}${type === undefined ? "" : ` ${code(type)}`}: ${text}`;
}

const code = (text: string): string => `\`${text}\``;
const cell = (text: string): string => text.replaceAll("\n", " ").replaceAll("|", "\\|");

function toMarkdown(doc: string): string {
  return doc.replace(/\{@link(?:code)? ([^}\s]+)[^}]*\}/g, "`$1`").trim();
}

function firstSentence(doc: string): string {
  const [paragraph] = toMarkdown(doc).split(/\n\s*\n/);
  return /^[^]*?[.:](?=\s|$)/.exec(paragraph!)?.[0].replace(/:$/, ".") ?? paragraph!;
}
