/**
 * The command: runs vectors against a target and prints or writes the report.
 *
 * @module
 */
import { mkdirSync, statSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { killAllGroups } from "./exchange/child_processes.ts";
import { stopPrograms } from "./target/execute.ts";
import {
  createInterruptSignal,
  exitAfterOutput,
  INTERRUPTED_EXIT_CODE,
  reportUncaughtErrors,
} from "./interrupt.ts";
import { type Arguments, describeUsageError, parseArguments, USAGE } from "./arguments.ts";
import { type Baseline, checkNames, readBaseline } from "./report/baseline.ts";
import { readSet } from "./report/sets.ts";
import { digestVectors } from "./vector/digest.ts";
import { VERSION } from "./version.ts";
import { loadRequirements, loadVectors } from "./vector/load.ts";
import { findUnmatched, readClaims, selectVectors } from "./vector/select_vectors.ts";
import { createProgress } from "./report/progress.ts";
import { type Report, toReport } from "./report/report.ts";
import { toHtml } from "./report/report_html.ts";
import { toJson } from "./report/report_json.ts";
import { toJunit } from "./report/report_junit.ts";
import { toSummary } from "./report/report_summary.ts";
import { toTable } from "./report/report_table.ts";
import { runAll } from "./run.ts";
import { openTarget } from "./target/open_target.ts";
import { createSelfTarget } from "./target/target.ts";

const ROOT: string = fileURLToPath(new URL("..", import.meta.url));

const interrupt = createInterruptSignal();
const hasUncaughtError = reportUncaughtErrors();
process.stdout.on("error", exitAfterOutput);
process.exitCode = await main(process.argv.slice(2));
killAllGroups();
// A stream or timer that a target left open must not keep the process alive, but the output must be flushed.
process.stdout.write("", exitAfterOutput);

async function main(args: readonly string[]): Promise<number> {
  try {
    const parsed = parseArguments(args);
    if (parsed.version) {
      process.stdout.write(`${VERSION}\n`);
      return 0;
    }
    if (parsed.help || parsed.suites.length === 0) {
      process.stdout.write(USAGE);
      return parsed.help ? 0 : 2;
    }
    return await run(parsed);
  } catch (error) {
    process.stderr.write(`${describeUsageError(error)}\n`);
    return 2;
  }
}

async function run(parsed: Arguments): Promise<number> {
  const requirements = loadRequirements(ROOT);
  const loaded = loadVectors(ROOT, parsed.suites, requirements);
  const vectors = selectVectors(loaded, parsed);
  const unmatched = findUnmatched(loaded, parsed);
  if (unmatched !== undefined) throw new TypeError(`No vector of the suites matches ${unmatched}.`);
  if (vectors.length === 0) {
    throw new TypeError(
      "No vector matches the options. Change --only, --document, --level or --since, or add --slow.",
    );
  }
  if (parsed.list) {
    for (const { name, strength, vector } of vectors) {
      process.stdout.write(`${name}  ${strength}  ${vector.title}\n`);
    }
    return 0;
  }
  const isSelf = vectors.every(({ file }) => file.suite.startsWith("self/"));
  const hasTarget = parsed.target !== undefined || parsed.stdio !== undefined || parsed.module !== undefined;
  // A list may name vectors of other suites than those of the run.
  const checkBaseline = (baseline: Baseline, where: string): void => {
    if (baseline.size === 0) return;
    const all = [...loaded, ...loadVectors(ROOT, ["self", "all"], requirements)];
    checkNames(baseline, all.map(({ name }) => name), where);
  };
  // A run may take long, so files that cannot be read or written are reported before it.
  if (parsed.baseline !== undefined) checkBaseline(readBaseline(parsed.baseline, {}), parsed.baseline);
  if (parsed.set !== undefined) readSet(join(ROOT, "sets.json"), parsed.set, vectors);
  if (parsed.reportDir) makeFolder(parsed.reportDir);
  const suiteFolders = new Set(vectors.map(({ file }) => file.suite.split("/")[0]!));
  const opened = isSelf && !hasTarget
    ? createSelfTarget()
    : await Promise.race([openTarget({ ...parsed, suiteFolders: suiteFolders }), waitForInterrupt()]);
  if (!opened) return INTERRUPTED_EXIT_CODE;
  const target = { ...opened, features: new Set([...opened.features, ...readClaims(parsed.profile)]) };
  const seed = parsed.seed ?? crypto.randomUUID().slice(0, 8);
  const started = new Date();
  const progress = createProgress(vectors.length, parsed.format === "table" ? undefined : false);
  try {
    checkBaseline(readBaseline(undefined, target.deviations), `"deviations" of the target`);
    const results = await runAll(
      vectors,
      { target, seed, maxWaitSeconds: parsed.wait },
      ({ name, outcome }) =>
        progress.tick(name, outcome === "fail" || outcome === "error" || outcome === "setup"),
      interrupt,
    );
    progress.end();
    const report = toReport({
      args: parsed,
      root: ROOT,
      target,
      requirements,
      vectors,
      results,
      seed,
      started,
      digest: digestVectors(loaded),
    });
    if (parsed.reportDir) writeReports(parsed.reportDir, report);
    process.stdout.write(formatReport(parsed, report));
    if (interrupt.aborted) return INTERRUPTED_EXIT_CODE;
    return hasUncaughtError() ? 1 : report.shortfall ? 2 : report.passed ? 0 : 1;
  } finally {
    progress.end();
    await stopPrograms();
    await target.close();
  }
}

/** One by one, because the option `recursive` of Node never returns where a file system has no new folders, as below `/proc`. */
function makeFolder(path: string): void {
  if (statSync(path, { throwIfNoEntry: false })?.isDirectory()) return;
  if (dirname(path) !== path) makeFolder(dirname(path));
  mkdirSync(path);
}

function waitForInterrupt(): Promise<undefined> {
  return new Promise((resolve) =>
    interrupt.addEventListener("abort", () => resolve(undefined), { once: true })
  );
}

function formatReport(parsed: Arguments, report: Report): string {
  if (parsed.format === "json") return toJson(report);
  return parsed.format === "junit" ? toJunit(report) : toTable(report, { verbose: parsed.verbose });
}

function writeReports(folder: string, report: Report): void {
  writeFileSync(join(folder, "report.json"), toJson(report));
  writeFileSync(join(folder, "report.xml"), toJunit(report));
  writeFileSync(join(folder, "report.html"), toHtml(report));
  writeFileSync(join(folder, "summary.md"), toSummary(report));
}
