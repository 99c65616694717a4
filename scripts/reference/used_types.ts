/**
 * Types of the sources that exported declarations name, and that no entry exports: a reader needs them to know what to pass.
 *
 * @module
 */
import { readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { readDeclaration } from "./declaration.ts";
import type { ExportedSymbol } from "./read_symbols.ts";

/** A declaration of the sources. */
export type Declared = Pick<ExportedSymbol, "file" | "name">;

const sources = new Map<string, string>();

function sourceOf(file: string): string {
  let text = sources.get(file);
  if (text === undefined) sources.set(file, text = readFileSync(file, "utf8"));
  return text;
}

const TYPE = "^(?:export )?(?:abstract )?(?:interface|type|class)";
const LIST = /^(?:import|export) (?:type )?\{([^}]*)\} from "(\.[^"]+)"/gm;

/** Where the type is declared that a file knows by a name; `undefined` for types of the platform and for parameters of types. */
function findDeclared(file: string, name: string): Declared | undefined {
  const text = sourceOf(file);
  if (new RegExp(`${TYPE} ${name}\\b`, "m").test(text)) return { file, name };
  for (const [, list, from] of text.matchAll(LIST)) {
    for (const item of list!.split(",")) {
      const [, original, local = original] = /^(?:type )?(\w+)(?: as (\w+))?$/.exec(item.trim()) ?? [];
      if (local === name) return findDeclared(join(dirname(file), from!), original!);
    }
  }
  return undefined;
}

/** The types that a declaration names, in their order. */
export function findUsedTypes({ file, name }: Declared): Declared[] {
  return findNamed(file, readDeclaration(file, name)).filter((used) => used.name !== name);
}

/** The types that a function returns; none for another declaration. */
export function findReturnedTypes({ file, name }: Declared): Declared[] {
  return readDeclaration(file, name).split("\n").flatMap((line) => {
    const [, returned = ""] = /^(?:function .*|\S.*)?\): (.*);$/.exec(line) ?? [];
    return findNamed(file, returned);
  });
}

function findNamed(file: string, declaration: string): Declared[] {
  const code = declaration.replace(/\/\*[^]*?\*\/|"[^"\n]*"/g, "");
  return [...new Set(code.match(/\b[A-Z]\w*/g))].flatMap((name) => findDeclared(file, name) ?? []);
}

/** The comment of a declaration as Markdown; empty without one. */
export function readComment({ file, name }: Declared): string {
  const text = sourceOf(file);
  const before = text.slice(0, new RegExp(`${TYPE} ${name}\\b`, "m").exec(text)!.index);
  const [, comment = ""] = /\/\*\*((?:(?!\*\/)[^])*)\*\/\n$/.exec(before) ?? [];
  return comment.replace(/^\s*\* ?/gm, "").trim();
}
