/**
 * The declaration of an exported name, as the package has it in its `.d.ts` files.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { isolatedDeclarationSync } from "oxc-transform";

const declarations = new Map<string, string>();

function declarationsOf(file: string): string {
  let text = declarations.get(file);
  if (text === undefined) {
    text = isolatedDeclarationSync(file, readFileSync(file, "utf8")).code;
    declarations.set(file, text);
  }
  return text;
}

/**
 * The text without its doc comment, which stands above it in the reference; those of its members stay.
 * @throws {Error} for a name that the file does not declare
 */
export function readDeclaration(file: string, name: string): string {
  const text = declarationsOf(file);
  const start = new RegExp(
    `^(?:export )?(?:declare )?(?:abstract )?(?:function|interface|type|class|const) ${name}\\b`,
    "gm",
  );
  const found = [...text.matchAll(start)].map(({ index }) => text.slice(index, endOf(text, index)));
  if (found.length === 0) throw new Error(`${file} does not declare ${name}`);
  return found.map((each) => each.replace(/^(export )?(declare )?/, "").replace(/^\t+/gm, indent)).join("\n");
}

const indent = (tabs: string): string => "  ".repeat(tabs.length);

/** Where the statement ends that begins at an index: at its semicolon, or at the bracket that closes its body. */
function endOf(text: string, start: number): number {
  const isBlock = /^(export )?(declare )?(abstract )?(interface|class) /.test(text.slice(start));
  let depth = 0;
  for (let at = start; at < text.length; at++) {
    if (text.startsWith("/*", at)) at = text.indexOf("*/", at) + 1;
    else if (text.startsWith("//", at)) at = text.indexOf("\n", at);
    else if (text[at] === '"') at = text.indexOf('"', at + 1);
    else if ("{([".includes(text[at]!)) depth++;
    else if ("})]".includes(text[at]!)) {
      depth--;
      if (depth === 0 && isBlock && text[at] === "}") return at + 1;
    } else if (text[at] === ";" && depth === 0) return at + 1;
  }
  return text.length;
}
