/**
 * `npm install` in a guide, without a registry: `trivet` and `trivet-conformance` are the built packages with only their
 * own dependencies beside them, every other package is the one of this checkout.
 * Arguments: the folder with the builds, then the names.
 *
 * @module
 */
import { cpSync, existsSync, mkdirSync, readFileSync, symlinkSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { ROOT } from "./newcomer.ts";

const [builds, ...args] = process.argv.slice(2) as [string, ...string[]];
const BUILT: Readonly<Record<string, string>> = {
  trivet: join(builds, "dist"),
  "trivet-conformance": join(builds, "dist-conformance"),
};
const names = args.filter((arg) => !arg.startsWith("-"));
for (const name of names) install(name);
if (!existsSync("package.json")) {
  const dependencies = Object.fromEntries(names.map((name) => [name, "*"]));
  writeFileSync("package.json", JSON.stringify({ dependencies }, null, 2) + "\n");
}
console.log(`added ${names.length} packages`);

function install(name: string): void {
  const target = join("node_modules", name);
  if (existsSync(target)) return;
  mkdirSync(dirname(target), { recursive: true });
  const built = BUILT[name];
  const source = built ?? join(ROOT, "node_modules", name);
  if (!existsSync(source)) {
    throw new Error(`"${name}" is not in this checkout: npm install --save-dev ${name}`);
  }
  if (built === undefined) symlinkSync(source, target);
  else cpSync(built, target, { recursive: true });

  const { bin = {}, dependencies = {} } = JSON.parse(readFileSync(join(source, "package.json"), "utf8"));
  if (built !== undefined) { for (const dependency of Object.keys(dependencies)) install(dependency); }
  mkdirSync("node_modules/.bin", { recursive: true });
  const commands: [string, string][] = typeof bin === "string" ? [[name, bin]] : Object.entries(bin);
  for (const [command, file] of commands) {
    const link = join("node_modules/.bin", command);
    if (existsSync(link)) continue;
    const script = `#!/bin/sh\nexec node "$(dirname "$0")/../${name}/${file}" "$@"\n`;
    writeFileSync(link, script, { mode: 0o755 });
  }
}
