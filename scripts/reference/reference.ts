/**
 * The API reference: pages in `docs/reference/`, from the doc comments and declarations of every exported name.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { type Page, PAGES } from "./entries.ts";
import { type Entry, readEntry } from "./read_symbols.ts";
import { idOf, writePage } from "./write_page.ts";

/** Where the pages are. */
export const FOLDER = "docs/reference";

/**
 * Writes the pages, and returns the problems: names without a doc comment, entries of the package that are on no page.
 * @param isCheck writes nothing; pages that are out of date are problems
 */
export function writeReference(isCheck: boolean): string[] {
  const sources = JSON.parse(readFileSync("package.json", "utf8")).exports as Record<string, string>;
  const listed = PAGES.flatMap(({ entries }) => entries);
  const problems = Object.keys(sources).filter((entry) => !listed.includes(entry)).map((entry) =>
    `package.json: the entry "${entry}" is on no page: scripts/reference/entries.ts`
  );
  const read = new Map<string, Entry>(listed.map((entry) => [entry, readEntry(sources[entry]!)]));
  const pages = new Map<string, Page>();
  for (const page of PAGES) {
    for (const symbol of page.entries.flatMap((entry) => read.get(entry)!.symbols)) {
      if (!pages.has(idOf(symbol)) && symbol.doc === "") {
        problems.push(`${symbol.file}:${symbol.line}: ${symbol.name} is exported and has no doc comment`);
      }
      if (!pages.has(idOf(symbol))) pages.set(idOf(symbol), page);
    }
  }
  if (problems.length > 0) return problems;
  const texts = new Map(PAGES.map((page) => [
    `${page.name}.md`,
    writePage(
      page,
      page.entries.map((entry) => [entry.replace(/^\./, "trivet"), read.get(entry)!]),
      (symbol) => pages.get(idOf(symbol))!,
    ),
  ]));
  texts.set("README.md", writeIndex());
  if (isCheck) {
    const isCurrent = ([file, text]: [string, string]): boolean =>
      existsSync(`${FOLDER}/${file}`) && readFileSync(`${FOLDER}/${file}`, "utf8") === text;
    return [...texts].filter((page) => !isCurrent(page)).map(([file]) =>
      `${FOLDER}/${file}: out of date: npm run reference`
    );
  }
  mkdirSync(FOLDER, { recursive: true });
  for (const file of readdirSync(FOLDER)) if (!texts.has(file)) rmSync(`${FOLDER}/${file}`);
  for (const [file, text] of texts) writeFileSync(`${FOLDER}/${file}`, text);
  return [];
}

function writeIndex(): string {
  const rows = PAGES.map(({ name, title, entries }) =>
    `| [${title}](${name}.md) | ${
      entries.map((entry) => `\`${entry.replace(/^\./, "trivet")}\``).join(", ")
    } |`
  );
  return [
    "# API reference",
    "",
    "Every name that the package exports, by entry. `npm run reference` writes these pages from the doc comments.",
    "",
    "| page | entries |",
    "| --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
