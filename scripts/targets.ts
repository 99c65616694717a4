/**
 * `npm run targets`: asks the servers of others again, by the commands that `conformance/RESULTS.md` names, and says
 * where an answer is no longer the one that the target expects. What is not installed is left out.
 *
 *   node scripts/targets.ts [--only TEXT] [--install] [--by-hand]
 *
 * `--install` installs the packages of targets of npm first. Those of Debian are left to whoever runs this. `--by-hand`
 * asks every finding with curl besides, by the scripts that the file names, and says which vectors fail and are not asked
 * so. Exit code 1 when something has changed.
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
  options: {
    only: { type: "string" },
    install: { type: "boolean", default: false },
    "by-hand": { type: "boolean", default: false },
  },
});
const text = readFileSync("conformance/RESULTS.md", "utf8").replace(/<!--[\s\S]*?-->/g, "");
const commands = [...text.matchAll(/^ +node (conformance\/runner\/cli\.ts .*--target (\S+).*)$/gm)]
  .map(([, command = "", target = ""]) => ({ words: command.trim().split(/\s+/), target }))
  .filter(({ target }) => values.only === undefined || target.includes(values.only));

let changed = 0;
/** By folder, the vectors that fail there. */
const failing = new Map<string, Set<string>>();
for (const { words, target } of commands) tell(target, ask(words, target));
if (values["by-hand"]) {
  for (const [folder, names] of failing) {
    const script = `${folder}/by_hand.sh`;
    if (existsSync(script)) tell(script, askByHand(script, names));
  }
}
if (commands.length === 0) console.log("No command of conformance/RESULTS.md was meant");
process.exitCode = changed > 0 || commands.length === 0 ? 1 : 0;

type Told = [word: "ok" | "CHANGED" | "absent", more: string];

function tell(what: string, [word, more]: Told): void {
  if (word === "CHANGED") changed++;
  console.log(`${word.padEnd(8)}${what}: ${more}`);
}

function ask(words: readonly string[], target: string): Told {
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
  const names = failing.get(folder) ?? new Set();
  failing.set(folder, names);
  for (const { name, outcome } of vectors) if (outcome === "fail") names.add(name);
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

/** What it prints names behind each answer the vectors that fail on it, without their suite. */
function askByHand(script: string, names: ReadonlySet<string>): Told {
  const { stdout, status } = spawnSync("bash", [script], {
    encoding: "utf8",
    timeout: LIMIT,
    maxBuffer: 1 << 28,
  });
  if (status === 2) return ["absent", stdout.trim().split("\n").at(-1) ?? ""];
  if (status === null) return ["CHANGED", `it took over ${LIMIT / 1000} s`];
  const wrong = stdout.split("\n").filter((line) => line.startsWith("CHANGED"));
  const asked = new Set(
    stdout.match(/^(ok|CHANGED) .*/gm)?.flatMap((line) => line.match(/[\w-]+\/[\w-]+/g) ?? []),
  );
  const unasked = [...names].map((name) => name.slice(name.indexOf("/") + 1)).filter((name) =>
    !asked.has(name)
  );
  if (wrong.length > 0 || status !== 0) return ["CHANGED", wrong.join("; ") || `it ended with ${status}`];
  if (unasked.length > 0) return ["CHANGED", `not asked by hand: ${unasked.join(", ")}`];
  return ["ok", `${names.size} vectors that fail, each asked by hand`];
}
