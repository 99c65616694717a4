/**
 * A page of the API reference as Markdown.
 *
 * @module
 */
import { readDeclaration } from "./declaration.ts";
import type { Page } from "./entries.ts";
import type { Entry, ExportedSymbol, Tag } from "./read_symbols.ts";
import { type Declared, findUsedTypes, readComment } from "./used_types.ts";

/** The page that describes a declaration, if any does. */
export type FindPage = (declared: Declared) => Page | undefined;

/** The heading of a declaration on its page. */
export type FindHeading = (declared: Declared) => string;

/** @param used types that the names of the page use, and that no entry exports */
export function writePage(
  page: Page,
  entries: readonly (readonly [string, Entry])[],
  used: readonly Declared[],
  find: FindPage,
  headingOf: FindHeading,
): string {
  const headings = findHeadings(page, entries, find);
  const linkTo = (declared: Declared): string => {
    const at = find(declared)!;
    return `${at === page ? "" : `${at.name}.md`}#${toAnchor(headingOf(declared))}`;
  };
  const writeDeclaration = (declared: Declared): string[] => {
    const links = findUsedTypes(declared).filter((type) => find(type) !== undefined)
      .map((type) => `[${code(type.name)}](${linkTo(type)})`);
    const lines = ["```ts", readDeclaration(declared.file, declared.name), "```", ""];
    return links.length > 0 ? [...lines, `Uses ${links.join(", ")}.`, ""] : lines;
  };
  const lines = [`# ${page.title}`, ""];
  for (const [name, { doc, symbols }] of entries) {
    if (entries.length > 1) lines.push(`## ${code(name)}`, "");
    lines.push(withoutName(toMarkdown(doc), name), "", "| name | what it is |", "| --- | --- |");
    for (const symbol of [...symbols].sort(byName)) {
      lines.push(`| [${code(symbol.name)}](${linkTo(symbol)}) | ${cell(firstSentence(symbol.doc))} |`);
    }
    lines.push("");
  }
  for (const { heading, symbol } of headings.values()) {
    lines.push(`## ${heading}`, "", toMarkdown(symbol.doc), "");
    const tags = symbol.tags.map(toLine).filter((line) => line !== undefined);
    if (tags.length > 0) lines.push(...tags, "");
    lines.push(...writeDeclaration(symbol));
  }
  if (used.length > 0) lines.push("## Other types", "", USED, "");
  for (const type of [...used].sort(byName)) {
    lines.push(`### ${type.name}`, "");
    const comment = toMarkdown(readComment(type)).replace(/\s*@default /, "\n\n- Default: ");
    if (comment !== "") lines.push(comment, "");
    lines.push(...writeDeclaration(type));
  }
  return lines.join("\n").trimEnd() + "\n";
}

const USED = "The declarations above use these types, which the package does not export.";

/** The names that the page describes, in order. A name that several of its entries declare has the entry in its heading. */
export function findHeadings(
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
export const idOf = ({ file, name }: Declared): string => `${file} ${name}`;

const byName = (a: Declared, b: Declared): number => a.name < b.name ? -1 : 1;

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
