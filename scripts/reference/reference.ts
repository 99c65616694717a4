/**
 * The API reference: pages in `docs/reference/`, from the doc comments and declarations of every exported name.
 *
 * @module
 */
import { existsSync, mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { INTERNAL, type Page, PAGES } from "./entries.ts";
import { type Entry, readEntry } from "./read_symbols.ts";
import { type Declared, findReturnedTypes, findUsedTypes } from "./used_types.ts";
import { type FindHeading, findHeadings, type FindPage, idOf, writePage } from "./write_page.ts";

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
  for (const [entry, { symbols }] of read) {
    const exported = new Set(symbols.map(idOf));
    for (const symbol of symbols) {
      // The compiler could not write the declarations of a module that exports the result (TS2742).
      for (const returned of findReturnedTypes(symbol).filter((type) => !exported.has(idOf(type)))) {
        problems.push(
          `${symbol.file}:${symbol.line}: "${entry}" exports ${symbol.name}, but not ${returned.name}, which it returns`,
        );
      }
    }
  }
  if (problems.length > 0) return problems;
  const used = findUsed(read, pages);
  const find: FindPage = (declared) => pages.get(idOf(declared));
  const entriesOf = (page: Page) =>
    page.entries.map((entry) => [entry.replace(/^\./, "trivet"), read.get(entry)!] as const);
  const headings = new Map(PAGES.flatMap((page) => [...findHeadings(page, entriesOf(page), find)]));
  const headingOf: FindHeading = (declared) => headings.get(idOf(declared))?.heading ?? declared.name;
  const texts = new Map(PAGES.map((page) => [
    `${page.name}.md`,
    writePage(page, entriesOf(page), used.get(page)!, find, headingOf),
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

/** The types that each page describes because its names use them, and puts them into `pages`. */
function findUsed(read: ReadonlyMap<string, Entry>, pages: Map<string, Page>): Map<Page, Declared[]> {
  return new Map(PAGES.map((page) => {
    const symbols: Declared[] = page.entries.flatMap((entry) => read.get(entry)!.symbols);
    const own = symbols.filter((symbol) => pages.get(idOf(symbol)) === page);
    const found: Declared[] = [];
    for (const symbol of own) collect(symbol);
    return [page, found];

    function collect(declared: Declared): void {
      for (const type of findUsedTypes(declared)) {
        if (pages.has(idOf(type)) || INTERNAL.has(type.name)) continue;
        pages.set(idOf(type), page);
        found.push(type);
        collect(type);
      }
    }
  }));
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
    "Every name that the package exports, by entry, and the types that these use. `npm run reference` writes these pages",
    "from the doc comments.",
    "",
    "| page | entries |",
    "| --- | --- |",
    ...rows,
    "",
  ].join("\n");
}
