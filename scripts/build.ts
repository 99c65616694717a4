/**
 * `npm run build`: makes `dist/`, the package that is published. Types are stripped file by file (names and lines stay),
 * declarations are made file by file, which isolated declarations allow; nothing is bundled.
 *
 * @module
 */
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";
import process from "node:process";
import { isolatedDeclarationSync } from "oxc-transform";
import { buildConformance } from "./build_conformance.ts";

const OUT = "dist";
/** Tests, and what only they import. */
const LEFT_OUT = /_test\.ts$|\/contract\.ts$|\/test_[a-z_]+\.ts$|_for_kill\.ts$/;

process.removeAllListeners("warning");
rmSync(OUT, { recursive: true, force: true });

const sources = globSync("**/*.ts", { cwd: "src" }).filter((file) => !LEFT_OUT.test("/" + file));
for (const file of sources) {
  const source = readFileSync(join("src", file), "utf8");
  const target = join(OUT, file.replace(/\.ts$/, ""));
  mkdirSync(dirname(target), { recursive: true });
  writeFileSync(target + ".js", withJsImports(stripTypeScriptTypes(source)).replace(/[ \t]+$/gm, ""));
  const { code, errors } = isolatedDeclarationSync(file, source);
  if (errors.length > 0) throw new Error(`Cannot declare ${file}: ${errors[0]!.message}`);
  writeFileSync(target + ".d.ts", withJsImports(code));
}

buildConformance(OUT, withJsImports);
cpSync("fixtures/skills", join(OUT, "fixtures/skills"), { recursive: true });
for (const file of ["README.md", "LICENSE"]) cpSync(file, join(OUT, file));

// The package is the root's without what only its developers need, its entries led to the JavaScript.
const { private: _, scripts: __, devDependencies: ___, allowScripts: ____, exports: entries, ...kept } = JSON
  .parse(
    readFileSync("package.json", "utf8"),
  );
const built = (source: string): string => source.replace("./src/", "./").replace(/\.ts$/, "");
const exports = Object.fromEntries(
  Object.entries<string>(entries).map(([entry, source]) => [
    entry,
    { types: `${built(source)}.d.ts`, default: `${built(source)}.js` },
  ]),
);
const published = {
  ...kept,
  bin: { trivet: `${built(kept.bin.trivet)}.js`, "trivet-conformance": "./conformance/runner/cli.js" },
  exports: { ...exports, "./package.json": "./package.json" },
};
writeFileSync(join(OUT, "package.json"), JSON.stringify(published, null, 2) + "\n");
console.log(`${OUT}/: ${sources.length} modules, ${Object.keys(entries).length} entries`);

/** Imports name `.ts` files in the sources, `.js` files in the package. */
function withJsImports(code: string): string {
  return code.replace(/((?:from|import)\s*\(?\s*["']\.{1,2}\/[^"'\n]+)\.ts(["'])/g, "$1.js$2");
}
