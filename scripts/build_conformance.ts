/**
 * The conformance kit in the published package: vectors, requirements and schemas as they are, the runner as JavaScript.
 * Trivet as a target stays behind, since it reads the sources; the browser that signs in for any target comes along.
 *
 * @module
 */
import { cpSync, globSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { stripTypeScriptTypes } from "node:module";
import { dirname, join } from "node:path";

const LEFT_OUT = /_test\.ts$|\/test_[a-z_]+\.ts$/;
const BROWSER = ["main.mjs", "package.json", "package-lock.json"].map((name) => `targets/browser/${name}`);
const KEPT = ["README.md", "FORMAT.md", "sets.json", "requirements", "vectors", ...BROWSER];

/** Writes `conformance/` below a folder. @param withJsImports leads imports from `.ts` to `.js` */
export function buildConformance(out: string, withJsImports: (code: string) => string): void {
  const folder = join(out, "conformance");
  for (const name of [...KEPT, ...globSync("*.schema.json", { cwd: "conformance" })]) {
    cpSync(join("conformance", name), join(folder, name), { recursive: true });
  }
  for (const file of globSync("runner/**/*.ts", { cwd: "conformance" })) {
    if (LEFT_OUT.test(file.replaceAll("\\", "/"))) continue;
    const target = join(folder, file.replace(/\.ts$/, ".js"));
    mkdirSync(dirname(target), { recursive: true });
    const source = readFileSync(join("conformance", file), "utf8");
    writeFileSync(target, withJsImports(stripTypeScriptTypes(source)).replace(/[ \t]+$/gm, ""));
  }
}
