/**
 * `npm run check`: format, lint, types, API reference, import rules, retired words, commit subjects, size of files and bundles. Deno
 * formats, lints and checks types.
 *
 * Types are checked twice: portable files with only the library of web workers, where names of a runtime are errors,
 * and the other files with Node's types.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { globSync } from "node:fs";
import process from "node:process";
import { measureConformance } from "./build_conformance.ts";
import { measureBundles } from "./bundle_size.ts";
import { checkCommits } from "./check_commits.ts";
import { checkImports, type Finding } from "./check_imports.ts";
import { checkSize } from "./check_size.ts";
import { checkWords } from "./check_words.ts";
import { writeReference } from "./reference/reference.ts";

const all = globSync([
  "src/**/*.ts",
  "scripts/**/*.ts",
  "conformance/**/*.ts",
  "fixtures/**/*.ts",
  "examples/**/*.ts",
], {
  // This example imports the built package: its test checks the types.
  exclude: ["**/node_modules/**", "examples/cloudflare/worker.ts"],
}).map((file) => file.replaceAll("\\", "/"));
const usesRuntime = (file: string) =>
  /^(scripts|conformance|examples)\/|^src\/runtime\/|^src\/end_to_end\/|^src\/store\/(drivers\/(sqlite|postgres|redis)|test_engines)|_node_test\.ts$/
    .test(file);

let failed = false;

function deno(name: string, ...args: string[]): void {
  const { status, stdout, stderr } = spawnSync("node_modules/.bin/deno", args, {
    encoding: "utf8",
    env: { ...process.env, NO_COLOR: "1" },
  });
  report(name, status === 0, status === 0 ? "" : `${stdout}${stderr}`.replace(/^(Check|Checked) .*\n/gm, ""));
}

function report(name: string, passed: boolean, text: string): void {
  failed ||= !passed;
  console.log(`${passed ? "ok  " : "FAIL"} ${name}`);
  if (!passed) console.log(text.trimEnd());
}

function reportFindings(name: string, found: readonly Finding[]): void {
  report(
    name,
    found.length === 0,
    found.map(({ file, line, message }) => `${file}:${line}: ${message}`).join("\n"),
  );
}

const guides = globSync("docs/*.md");
deno(
  "format",
  "fmt",
  "--check",
  "src",
  "scripts",
  "fixtures",
  "conformance",
  "examples",
  "deno.json",
  "package.json",
  ...guides,
);
deno("lint", "lint", "src", "fixtures");
// Scripts and the conformance kit print to a terminal.
deno(
  "lint of scripts",
  "lint",
  "--rules-exclude=no-console,require-await",
  "scripts",
  "conformance",
  "examples",
);
deno("types of portable files", "check", "--quiet", ...all.filter((file) => !usesRuntime(file)));
deno("types of files that use a runtime", "check", "--quiet", ...all.filter(usesRuntime));
const outdated = writeReference(true);
report("API reference", outdated.length === 0, outdated.join("\n"));
reportFindings("imports", checkImports("."));
reportFindings("words", checkWords("."));
reportFindings("commit subjects", checkCommits("."));
const { found, files, median, p90 } = checkSize(".");
reportFindings(`size (${files} files, median ${median} lines, p90 ${p90})`, found);
for (const { passed, text } of measureBundles()) {
  report(text, passed, "load rarely used parts with import(): node scripts/bundle_size.ts --modules");
}
const kit = measureConformance();
report(kit.text, kit.passed, "leave files out: scripts/build_conformance.ts");
process.exitCode = failed ? 1 : 0;
