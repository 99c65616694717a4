/**
 * `npm run build`: makes `dist/`, the published package, and `dist-conformance/`, the package of the conformance kit. Each
 * file is compiled alone: types are removed (names and positions stay), with a source map that contains the source, and its
 * declarations are derived from isolated declarations. Besides these modules, the package has a bundle of them, which runtimes
 * load.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { cpSync, globSync, mkdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { basename, dirname, join } from "node:path";
import process from "node:process";
import { isolatedDeclarationSync } from "oxc-transform";
import { buildConformance, KIT_FOLDER, withJsImports } from "./build_conformance.ts";
import { writeIdentityMap } from "./source_map.ts";

const OUT = "dist";
/** The entry that imports what only its runtime has. */
const OTHER_RUNTIME = "./workerd";
/** Tests, and modules that only tests import. */
const EXCLUDED = /_test\.ts$|^\/store\/contract\/|\/test_[a-z_]+\.ts$|_for_kill\.ts$/;

process.removeAllListeners("warning");
rmSync(OUT, { recursive: true, force: true });

const sources = globSync("**/*.ts", { cwd: "src" }).filter((file) => !EXCLUDED.test("/" + file));
for (const file of sources) {
  const source = readFileSync(join("src", file), "utf8");
  const target = join(OUT, file.replace(/\.ts$/, ""));
  mkdirSync(dirname(target), { recursive: true });
  // The docstrings of a module and of its declarations are in its source map, and of what is public in its declarations: here
  // they are left out. Lines stay where they are.
  const code = withJsImports(stripTypeScriptTypes(source)).replace(/[ \t]+$/gm, "")
    .replace(/^\/\*\*(?:.*|\n(?: \*.*\n)+? )\*\/$/gm, (docstring) => docstring.replace(/[^\n]+/g, ""));
  const name = basename(target);
  writeFileSync(target + ".js", `${code.trimEnd()}\n//# sourceMappingURL=${name}.js.map\n`);
  writeFileSync(target + ".js.map", writeIdentityMap(code, source, name + ".ts"));
  const { code: declarations, errors } = isolatedDeclarationSync(file, source);
  if (errors.length > 0) throw new Error(`Cannot declare ${file}: ${errors[0]!.message}`);
  writeFileSync(target + ".d.ts", withJsImports(declarations));
}

rmSync(KIT_FOLDER, { recursive: true, force: true });
buildConformance(KIT_FOLDER);
cpSync("fixtures/skills", join(OUT, "fixtures/skills"), { recursive: true });
for (const file of ["README.md", "LICENSE", "CHANGELOG.md", "SECURITY.md"]) cpSync(file, join(OUT, file));

// The published package.json has no scripts, development dependencies and overrides, and its entries name the JavaScript.
const {
  private: _,
  scripts: __,
  devDependencies: ___,
  allowScripts: ____,
  overrides: _____,
  exports: entries,
  ...kept
} = JSON
  .parse(
    readFileSync("package.json", "utf8"),
  );
const toBuiltPath = (source: string): string => source.replace("./src/", "./").replace(/\.ts$/, "");
const toBundledPath = (source: string): string => toBuiltPath(source).replace(/^\.\//, "./bundle/") + ".js";
// Node, Deno and Bun load the bundle, by the condition `node`. Bundlers of apps, also those for Node, know `module`, which
// comes first: from modules they leave out what the app does not use, and from the bundle they could not.
const exports = Object.fromEntries(
  Object.entries<string>(entries).map(([entry, source]) => [
    entry,
    {
      types: `${toBuiltPath(source)}.d.ts`,
      ...(entry !== OTHER_RUNTIME && { module: `${toBuiltPath(source)}.js`, node: toBundledPath(source) }),
      default: `${toBuiltPath(source)}.js`,
    },
  ]),
);
removeUnreachableDeclarations(Object.values<string>(entries).map((source) => `${toBuiltPath(source)}.d.ts`));
const published = {
  ...kept,
  bin: { trivet: `${toBuiltPath(kept.bin.trivet)}.js` },
  exports: { ...exports, "./package.json": "./package.json" },
};
writeFileSync(join(OUT, "package.json"), JSON.stringify(published, null, 2) + "\n");
execFileSync("node_modules/.bin/bun", ["scripts/bundle_package.ts", OUT], { stdio: "inherit" });

/** Those of modules that no entry exports, such as the ones of the command, cannot be imported from the package. */
function removeUnreachableDeclarations(entries: readonly string[]): void {
  const reached = new Set(entries.map((entry) => join(OUT, entry)));
  for (const file of reached) {
    for (const [, path] of readFileSync(file, "utf8").matchAll(/"(\.{1,2}\/[^"\n]+)\.js"/g)) {
      reached.add(join(dirname(file), `${path}.d.ts`));
    }
  }
  for (const file of globSync("**/*.d.ts", { cwd: OUT }).map((each) => join(OUT, each))) {
    if (!reached.has(file)) rmSync(file);
  }
}

console.log(`${OUT}/: ${sources.length} modules, ${Object.keys(entries).length} entries; ${KIT_FOLDER}/`);
