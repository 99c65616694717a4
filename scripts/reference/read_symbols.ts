/**
 * Reads what an entry exports, with its doc comments, by `deno doc`.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { relative } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

export interface Tag {
  readonly kind: string;
  readonly name?: string;
  readonly doc?: string;
}

export interface ExportedSymbol {
  readonly name: string;
  /** The file that declares it, from the root of the project. */
  readonly file: string;
  readonly line: number;
  /** Empty for a name without a doc comment. */
  readonly doc: string;
  readonly tags: readonly Tag[];
}

export interface Entry {
  /** The comment of the module. */
  readonly doc: string;
  readonly symbols: readonly ExportedSymbol[];
}

interface Declaration {
  readonly location: { readonly filename: string; readonly line: number };
  readonly jsDoc?: { readonly doc?: string; readonly tags?: readonly Tag[] };
}

/** @param source the file of an entry */
export function readEntry(source: string): Entry {
  const { status, stdout, stderr } = spawnSync("node_modules/.bin/deno", ["doc", "--json", source], {
    encoding: "utf8",
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, NO_COLOR: "1" },
  });
  if (status !== 0) throw new Error(`deno doc ${source}: ${stderr}`);
  const [module] = Object.values(JSON.parse(stdout).nodes) as [
    { module_doc?: { doc?: string }; symbols: { name: string; declarations: Declaration[] }[] },
  ];
  return {
    doc: module.module_doc?.doc ?? "",
    symbols: module.symbols.map(({ name, declarations }) => {
      const { location, jsDoc } = declarations.find(({ jsDoc }) => jsDoc?.doc) ?? declarations[0]!;
      return {
        name,
        file: relative(process.cwd(), fileURLToPath(location.filename)).replaceAll("\\", "/"),
        line: location.line + 1,
        doc: jsDoc?.doc ?? "",
        tags: jsDoc?.tags ?? [],
      };
    }),
  };
}
