/**
 * `npm run targets`: asks the servers of others again, by the commands that `conformance/RESULTS.md` names, and says
 * where an answer is no longer the one that the target expects. What is not installed is left out.
 *
 *   node scripts/targets.ts [--only TEXT] [--install]
 *
 * `--install` installs the packages of targets of npm first. Those of Debian are left to whoever runs this. Exit code 1
 * when something has changed.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { existsSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";

/** One run takes so long at most, in milliseconds. */
const LIMIT = 300_000;

/** What is read of the JSON report. */
interface Report {
  readonly passed: boolean;
  readonly summary: Readonly<Record<string, number>>;
  readonly stale: readonly string[];
  readonly vectors: readonly {
    readonly name: string;
    readonly outcome: string;
    readonly expected?: string;
  }[];
}

const { values } = parseArgs({
  options: { only: { type: "string" }, install: { type: "boolean", default: false } },
});
const text = readFileSync("conformance/RESULTS.md", "utf8").replace(/<!--[\s\S]*?-->/g, "");
const commands = [...text.matchAll(/^ +node (conformance\/runner\/cli\.ts .*--target (\S+).*)$/gm)]
  .map(([, command = "", target = ""]) => ({ words: command.trim().split(/\s+/), target }))
  .filter(({ target }) => values.only === undefined || target.includes(values.only));

let changed = 0;
for (const { words, target } of commands) {
  const [word, more] = ask(words, target);
  if (word === "CHANGED") changed++;
  console.log(`${word.padEnd(8)}${target}: ${more}`);
}
if (commands.length === 0) console.log("No command of conformance/RESULTS.md was meant");
process.exitCode = changed > 0 || commands.length === 0 ? 1 : 0;

function ask(words: readonly string[], target: string): [word: "ok" | "CHANGED" | "absent", more: string] {
  const folder = dirname(target);
  if (existsSync(join(folder, "package.json"))) {
    if (values.install) {
      spawnSync("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"], { stdio: "ignore" });
    }
    if (!existsSync(join(folder, "node_modules"))) return ["absent", `npm ci --prefix ${folder}`];
  }
  const { stdout, stderr, status } = spawnSync(process.execPath, [...words, "--json"], {
    encoding: "utf8",
    timeout: LIMIT,
    maxBuffer: 1 << 28,
  });
  if (status === 2) return ["absent", stderr.trim().split("\n").at(-1) ?? ""];
  if (status === null) return ["CHANGED", `it took over ${LIMIT / 1000} s`];
  const { passed, summary, stale, vectors }: Report = JSON.parse(stdout);
  if (passed) return ["ok", Object.entries(summary).map(([word, count]) => `${count} ${word}`).join(", ")];
  const others = vectors.filter(({ outcome, expected }) =>
    /^(fail|setup|error)$/.test(outcome) && expected === undefined
  );
  return [
    "CHANGED",
    [...others.map(({ name, outcome }) => `${name} (${outcome})`), ...stale.map((name) => `${name} passes`)]
      .join(", "),
  ];
}
