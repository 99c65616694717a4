/**
 * Builds the package `trivet` from the sources of this checkout, and installs examples with it. For tests and benches.
 *
 * @module
 */
import { execFileSync } from "node:child_process";
import { cpSync, mkdirSync, mkdtempSync, readdirSync, rmSync, symlinkSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";

const ROOT: string = fileURLToPath(new URL("..", import.meta.url));
/** What a build makes, and folders that it does not read. */
const NOT_SOURCES = new Set(["dist", "dist-conformance", "release", "data", ".git"]);

/** A package that was built in a folder of its own, so that tests can run at the same time. */
export interface BuiltPackage {
  /** A folder for the test's own files. */
  readonly folder: string;
  /** The folder of the built package. */
  readonly dist: string;
  remove(): void;
}

/** Builds the package in a temporary folder, which links to the sources. */
export function buildPackage(): BuiltPackage {
  const folder = mkdtempSync(join(tmpdir(), "trivet-example-"));
  const sources = join(folder, "sources");
  mkdirSync(sources);
  for (const name of readdirSync(ROOT)) {
    if (!NOT_SOURCES.has(name)) symlinkSync(join(ROOT, name), join(sources, name));
  }
  // Builds run on Node.
  const isNode = !("Deno" in globalThis) && !("Bun" in globalThis);
  const node = isNode ? process.execPath : join(ROOT, "node_modules/.bin/node");
  execFileSync(node, ["scripts/build.ts"], {
    cwd: sources,
    stdio: ["ignore", "ignore", "inherit"],
  });
  return {
    folder,
    dist: join(sources, "dist"),
    remove: () => rmSync(folder, { recursive: true, force: true }),
  };
}

/** Copies an example to a folder where `trivet` is the built package, as after `npm install`. Returns its path. */
export function installExample(name: string, { folder, dist }: BuiltPackage): string {
  const copy = join(folder, name);
  cpSync(join(ROOT, "examples", name), copy, { recursive: true });
  const modules = join(copy, "node_modules");
  mkdirSync(modules);
  for (const each of readdirSync(join(ROOT, "node_modules"))) {
    if (each !== "trivet") symlinkSync(join(ROOT, "node_modules", each), join(modules, each));
  }
  cpSync(dist, join(modules, "trivet"), { recursive: true });
  return copy;
}
