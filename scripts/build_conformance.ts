/**
 * The package of the conformance kit: vectors, requirements and schemas as they are, the runner as JavaScript. The
 * targets are left out because they import the sources, except the browser that signs in at any target.
 *
 * @module
 */
import { Buffer } from "node:buffer";
import { globSync, mkdirSync, readFileSync, statSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { basename, dirname, extname, join } from "node:path";
import process from "node:process";
import { gzipSync } from "node:zlib";
import { writeIdentityMap } from "./source_map.ts";

/** The folder of the built package. */
export const KIT_FOLDER = "dist-conformance";

const ROOT = "conformance";
const EXCLUDED = /_test\.ts$|\/test_[a-z_]+\.ts$/;
const COPIED = [
  "README.md",
  "FORMAT.md",
  "CHANGELOG.md",
  "sets.json",
  "profiles.json",
  "*.schema.json",
  "requirements/*",
  "vectors/**/*",
  "runners/**/*.py",
  "clients/scenarios/*",
  "clients/README.md",
  "clients/scenario.schema.json",
  "targets/browser/{main.mjs,package.json,package-lock.json}",
];
const MAX_PACKED_BYTES = 720 * 1024;

/** Writes the package to a folder. */
export function buildConformance(out: string): void {
  for (const [name, content] of collectFiles()) {
    mkdirSync(dirname(join(out, name)), { recursive: true });
    writeFileSync(join(out, name), content);
  }
}

/** Measures the packed size of the kit against its budget. */
export function measureConformance(): { readonly passed: boolean; readonly text: string } {
  // An archive has a header of 512 bytes for each file, and contents padded to as many.
  const parts = [...collectFiles()].sort(comparePacked).flatMap(([name, content]) => [
    Buffer.alloc(512, `package/${name}\0`),
    content,
    Buffer.alloc((512 - content.length % 512) % 512),
  ]);
  const bytes = gzipSync(Buffer.concat(parts), { level: 9 }).length;
  const format = (count: number) => `${Math.ceil(count / 1024)} KB`;
  return {
    passed: bytes <= MAX_PACKED_BYTES,
    text: `package of the conformance kit: ${format(bytes)} packed, at most ${format(MAX_PACKED_BYTES)}`,
  };
}

/** The order of `npm pack`, by extension and name: a source map is then too far from its file to be compressed with it. */
function comparePacked([one]: readonly [string, unknown], [other]: readonly [string, unknown]): number {
  const compare = (a: string, b: string) => a.toLowerCase().localeCompare(b.toLowerCase(), "en");
  return compare(extname(one), extname(other)) || compare(basename(one), basename(other)) ||
    one.localeCompare(other, "en");
}

/** The files of the package, by their path in it. */
function collectFiles(): Map<string, Buffer> {
  const files = new Map<string, Buffer>();
  const read = (name: string) => readFileSync(join(ROOT, name));
  for (const name of COPIED.flatMap((pattern) => globSync(pattern, { cwd: ROOT })).sort()) {
    if (statSync(join(ROOT, name)).isFile()) files.set(name, read(name));
  }
  files.set("LICENSE", readFileSync("LICENSE"));
  process.removeAllListeners("warning");
  for (const file of globSync("runner/**/*.ts", { cwd: ROOT }).sort()) {
    if (EXCLUDED.test(file.replaceAll("\\", "/"))) continue;
    const source = String(read(file));
    // Doc comments are in the source map. Their lines stay, as positions do.
    const code = withJsImports(stripTypeScriptTypes(source))
      .replace(/^[ \t]*\/\*\*[\s\S]*?\*\//gm, (comment) => comment.replace(/[^\n]/g, ""))
      .replace(/[ \t]+$/gm, "");
    const target = file.replace(/\.ts$/, ".js");
    files.set(target, Buffer.from(`${code.trimEnd()}\n//# sourceMappingURL=${basename(target)}.map\n`));
    files.set(`${target}.map`, Buffer.from(writeIdentityMap(code, source, basename(file))));
  }
  const { private: _, scripts: __, bin, ...kept } = JSON.parse(String(read("package.json")));
  const built = Object.fromEntries(
    Object.entries<string>(bin).map(([name, path]) => [name, path.replace(/\.ts$/, ".js")]),
  );
  files.set("package.json", Buffer.from(JSON.stringify({ ...kept, bin: built }, null, 2) + "\n"));
  return files;
}

/** Imports name `.ts` files in the sources, `.js` files in the package. */
export function withJsImports(code: string): string {
  return code
    .replace(/((?:from|import)\s*\(?\s*["']\.{1,2}\/[^"'\n]+)\.ts(["'])/g, "$1.js$2")
    .replace(/(new URL\("\.{1,2}\/[^"\n]+)\.ts(", import\.meta\.url\))/g, "$1.js$2");
}
