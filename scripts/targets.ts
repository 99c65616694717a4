/**
 * `npm run targets`: runs the kit against the third-party servers in `conformance/targets/` and the clients in
 * `conformance/clients/`, and reports changes.
 * `--help` prints its options.
 *
 * @module
 */
import { spawnSync } from "node:child_process";
import { existsSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { parseArgs } from "node:util";
import {
  findChanges,
  listClients,
  readSavedResult,
  runClientFolder,
  writeResultTable,
  writeSavedResult,
} from "./targets/client_results.ts";
import { MATRIX, RESULTS, toMatrixPage, toResultsText } from "./targets/results_page.ts";
import {
  findReplayed,
  type LevelCounts,
  readStoredRun,
  readTargets,
  storeReplay,
  storeRun,
} from "./targets/target_data.ts";

const HELP =
  `Runs the conformance kit against third-party servers and clients, and reports results that changed.

The runs are those of conformance/targets/*/findings.json. The expected failures of each server are the
deviations in its target file.

Usage: npm run targets -- [options]

Options:
  --only TEXT   run only the targets whose file contains TEXT in its path
  --install     install the npm packages of the targets first (install Debian packages yourself)
  --by-hand     also replay every finding with curl, by the target's by_hand.sh, and report failing vectors
                that no finding covers
  --write       store the figures of each run in result.json beside the target, with --by-hand also the vectors
                that the findings cover
  --matrix      write conformance/RESULTS.md and conformance/matrix.html from the stored results, and run
                nothing (with --write: afterwards)
  --help        print this help

Results of a target:
  ok            every result is the expected one
  CHANGED       a result differs from the target file, the stored result, or a finding
  skipped       the server is not installed; the line says how to install it

Examples:
  npm run targets -- --install
  npm run targets -- --only jayson --by-hand

Exit codes: 0 nothing changed, 1 something changed, 2 wrong arguments.
`;

const CLI = "conformance/runner/cli.ts";
const MAX_RUN_MS = 300_000;
const MAX_OUTPUT_BYTES = 1 << 28;

/** The members of the JSON report that this file reads. */
interface Report {
  readonly passed: boolean;
  readonly summary: Readonly<Record<string, number>>;
  readonly stale: readonly string[];
  readonly kit: string;
  readonly digest: string;
  readonly target: { readonly name: string; readonly version?: string };
  readonly coverage: readonly Required<LevelCounts>[];
  readonly vectors: readonly {
    readonly name: string;
    readonly outcome: string;
    readonly expected?: string;
  }[];
}

interface Run {
  readonly folder: string;
  readonly suite: string;
  readonly target: string;
  readonly label?: string;
}

type RunResult = readonly [word: "ok" | "CHANGED" | "skipped", details: string];

const options = readOptions();
let changed = 0;
/** Vectors that fail, by the folder of their target. */
const failing = new Map<string, Set<string>>();
if (options.write || !options.matrix) runTargets();
if (options.matrix) {
  const targets = readTargets();
  writeFileSync(RESULTS, formatMarkdown(toResultsText(targets)));
  writeFileSync(MATRIX, toMatrixPage(targets));
  console.log(`wrote ${RESULTS} and ${MATRIX}`);
}
process.exitCode = changed > 0 ? 1 : 0;

function runTargets(): void {
  const runs = readTargets().flatMap(({ folder, servers, runs }) =>
    // Trivet has no findings, only results.
    (servers.length > 0 ? servers.flatMap((server) => server.runs) : runs).map((run) => ({ ...run, folder }))
  ).filter(({ folder, target }) => options.only === undefined || join(folder, target).includes(options.only));
  const clients = listClients().filter((folder) =>
    options.only === undefined || folder.includes(options.only)
  );
  if (runs.length + clients.length === 0) failUsage(`No target or client contains "${options.only}".`);
  for (const folder of clients) report(folder, runClientTests(folder));
  if (options.write && clients.length > 0) writeResultTable(formatMarkdown);
  for (const run of runs) report(`${join(run.folder, run.target)} ${run.suite}`, runKit(run));
  if (!options.byHand) return;
  for (const [folder, names] of failing) {
    const script = `${folder}/by_hand.sh`;
    if (existsSync(script)) report(script, runScript(folder, script, names));
  }
}

function installPackages(folder: string): void {
  spawnSync("npm", ["ci", "--prefix", folder, "--no-audit", "--no-fund"], { stdio: "ignore" });
}

/** Runs the scenarios for clients, and compares the results with the stored ones. */
function runClientTests(folder: string): RunResult {
  if (options.install && existsSync(`${folder}/package-lock.json`)) installPackages(folder);
  const result = runClientFolder(folder);
  if (!result) return ["skipped", `not installed. Run: npm ci --prefix ${folder}`];
  const changes = options.write ? [] : findChanges(readSavedResult(folder), result);
  if (options.write) writeSavedResult(folder, result);
  if (changes.length > 0) return ["CHANGED", changes.join(", ")];
  return ["ok", Object.entries(result.summary).map(([word, count]) => `${count} ${word}`).join(", ")];
}

/** Formats the tables as `npm run check` expects. */
function formatMarkdown(text: string): string {
  const { stdout, status } = spawnSync("node_modules/.bin/deno", ["fmt", "--ext", "md", "-"], {
    input: text,
    encoding: "utf8",
  });
  if (status !== 0) throw new Error("deno fmt failed");
  return stdout;
}

interface Options {
  readonly only: string | undefined;
  readonly install: boolean;
  readonly byHand: boolean;
  readonly write: boolean;
  readonly matrix: boolean;
}

function readOptions(): Options {
  try {
    const { values } = parseArgs({
      options: {
        only: { type: "string" },
        install: { type: "boolean", default: false },
        "by-hand": { type: "boolean", default: false },
        write: { type: "boolean", default: false },
        matrix: { type: "boolean", default: false },
        help: { type: "boolean", short: "h", default: false },
      },
    });
    if (values.help) {
      process.stdout.write(HELP);
      process.exit(0);
    }
    const { only, install, write, matrix } = values;
    return { only, install, write, matrix, byHand: values["by-hand"] };
  } catch (error) {
    return failUsage((error as Error).message);
  }
}

function failUsage(message: string): never {
  process.stderr.write(`${message}\nRun "npm run targets -- --help" for the options.\n`);
  process.exit(2);
}

function report(name: string, [word, details]: RunResult): void {
  if (word === "CHANGED") changed++;
  console.log(`${word.padEnd(8)}${name}: ${details}`);
}

function runKit({ folder, suite, target, label }: Run): RunResult {
  if (existsSync(join(folder, "package.json"))) {
    if (options.install && existsSync(`${folder}/package-lock.json`)) installPackages(folder);
    if (!existsSync(join(folder, "node_modules"))) {
      return ["skipped", `not installed. Run: npm ci --prefix ${folder}`];
    }
  }
  const { stdout, stderr, status } = spawnSync(process.execPath, [
    CLI,
    suite,
    "--target",
    toTargetPath(folder, target),
    "--json",
  ], {
    encoding: "utf8",
    timeout: MAX_RUN_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (status === 2) return ["skipped", lastLine(stderr)];
  if (status === null) return ["CHANGED", `stopped after ${MAX_RUN_MS / 1000} s`];
  const { passed, summary, stale, vectors, kit, digest, coverage, target: named }: Report = JSON.parse(
    stdout,
  );
  const failed = vectors.filter(({ outcome }) => outcome === "fail").map(({ name }) => name);
  const stored = readStoredRun(folder, { suite, target });
  if (options.write) {
    const { name, version } = named;
    const date = new Date().toISOString().slice(0, 10);
    const levels = coverage.filter(({ asked }) => asked > 0).map((
      { document, level, rows, asked, held },
    ) => ({
      document,
      level,
      rows,
      asked,
      held,
    }));
    storeRun(folder, {
      suite,
      target,
      name,
      ...(version !== undefined && { version }),
      ...(label !== undefined && { label }),
      date,
      kit,
      digest,
      summary,
      levels,
      failing: failed,
    });
  }
  const names = failing.get(folder) ?? new Set();
  failing.set(folder, names);
  for (const name of failed) names.add(name);
  if (passed && !options.write) {
    const differing = listDifferences(stored?.failing ?? [], failed);
    if (differing.length > 0) {
      return ["CHANGED", `result.json is not of this run: ${differing.join(", ")}. Run with --write`];
    }
  }
  if (passed) return ["ok", Object.entries(summary).map(([word, count]) => `${count} ${word}`).join(", ")];
  const unexpected = vectors.filter(({ outcome, expected }) =>
    /^(fail|setup|error)$/.test(outcome) && expected === undefined
  );
  return [
    "CHANGED",
    [
      ...unexpected.map(({ name, outcome }) => `${name} (${outcome})`),
      ...stale.map((name) => `${name} (passes now)`),
    ].join(", "),
  ];
}

/** The names that only one of the lists has. */
function listDifferences(one: readonly string[], other: readonly string[]): string[] {
  return [...new Set(one).symmetricDifference(new Set(other))];
}

/** The target files of Trivet are beside its folder, because tests use them too. */
function toTargetPath(folder: string, target: string): string {
  const path = join(folder, target);
  return existsSync(path) ? path : join(folder, "..", target);
}

/** Replays the findings of a folder. @param names of the vectors that fail */
function runScript(folder: string, script: string, names: ReadonlySet<string>): RunResult {
  const { stdout, status } = spawnSync("bash", [script], {
    encoding: "utf8",
    timeout: MAX_RUN_MS,
    maxBuffer: MAX_OUTPUT_BYTES,
  });
  if (status === 2) return ["skipped", lastLine(stdout)];
  if (status === null) return ["CHANGED", `stopped after ${MAX_RUN_MS / 1000} s`];
  const wrong = stdout.split("\n").filter((line) => line.startsWith("CHANGED"));
  const covered = findReplayed(stdout);
  if (options.write && wrong.length === 0 && status === 0) storeReplay(folder, stdout);
  const uncovered = [...names].map((name) => name.slice(name.indexOf("/") + 1)).filter((name) =>
    !covered.has(name)
  );
  if (wrong.length > 0 || status !== 0) return ["CHANGED", wrong.join("; ") || `exit code ${status}`];
  if (uncovered.length > 0) {
    return ["CHANGED", `failing vectors that no finding covers: ${uncovered.join(", ")}`];
  }
  return ["ok", `${names.size} failing vectors, each covered by a finding`];
}

function lastLine(output: string): string {
  return output.trim().split("\n").at(-1) ?? "";
}
