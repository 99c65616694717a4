/**
 * The command: replays vectors against a target and says what came of it.
 *
 * @module
 */
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { fileURLToPath } from "node:url";
import { finishAll } from "./exchange/children.ts";
import { endStaying } from "./target/execute.ts";
import { INTERRUPTED, interruption, survive } from "./interrupt.ts";
import { type Arguments, readArguments, USAGE } from "./arguments.ts";
import { readBaseline, readSet } from "./report/baseline.ts";
import { loadRequirements, loadVectors } from "./vector/load.ts";
import { choose } from "./vector/choose.ts";
import { progressOf } from "./report/progress.ts";
import { type Report, toReport } from "./report/report.ts";
import { toHtml } from "./report/report_html.ts";
import { toJson } from "./report/report_json.ts";
import { toJunit } from "./report/report_junit.ts";
import { toSummary } from "./report/report_summary.ts";
import { toTable } from "./report/report_table.ts";
import { runAll } from "./run.ts";
import { openTarget } from "./target/open_target.ts";
import { noTarget } from "./target/target.ts";

const ROOT: string = fileURLToPath(new URL("..", import.meta.url));

const leave = interruption();
const hasFailed = survive();
// Whoever reads may have read enough.
process.stdout.on("error", () => process.exit());
process.exitCode = await main(process.argv.slice(2));
finishAll();
// What a target left open (a stream, a timer) shall not keep the run alive, but its last words shall be read.
process.stdout.write("", () => process.exit());

async function main(args: readonly string[]): Promise<number> {
  try {
    const asked = readArguments(args);
    if (asked.help || asked.suites.length === 0) {
      process.stdout.write(USAGE);
      return asked.help ? 0 : 2;
    }
    return await run(asked);
  } catch (error) {
    process.stderr.write(`${error instanceof Error ? error.message : error}\n`);
    return 2;
  }
}

async function run(asked: Arguments): Promise<number> {
  const requirements = loadRequirements(ROOT);
  const vectors = choose(loadVectors(ROOT, asked.suites, requirements), asked);
  if (vectors.length === 0) throw new TypeError("Cannot run: no vector fits what was asked for");
  if (asked.list) {
    for (const { name, strength, vector } of vectors) {
      process.stdout.write(`${name}  ${strength}  ${vector.title}\n`);
    }
    return 0;
  }
  const isSelf = vectors.every(({ file }) => file.suite.startsWith("self/"));
  const hasTarget = asked.target !== undefined || asked.stdio !== undefined || asked.module !== undefined;
  // Before the run, which may be long: what cannot be read or written shows now.
  readBaseline(asked.baseline, {});
  if (asked.set !== undefined) readSet(join(ROOT, "sets.json"), asked.set, vectors.map(({ name }) => name));
  if (asked.reportDir) mkdirSync(asked.reportDir, { recursive: true });
  const kinds = new Set(vectors.map(({ file }) => file.suite.split("/")[0]!));
  const target = isSelf && !hasTarget
    ? noTarget()
    : await Promise.race([openTarget({ ...asked, kinds }), untilInterrupted()]);
  if (!target) return INTERRUPTED;
  const seed = asked.seed ?? crypto.randomUUID().slice(0, 8);
  const started = new Date();
  const progress = progressOf(vectors.length, asked.format === "table" ? undefined : false);
  try {
    const results = await runAll(
      vectors,
      { target, seed, mostWaiting: asked.wait },
      ({ name, outcome }) =>
        progress.tick(name, outcome === "fail" || outcome === "error" || outcome === "setup"),
      leave,
    );
    progress.end();
    const report = toReport({ asked, root: ROOT, target, requirements, vectors, results, seed, started });
    if (asked.reportDir) write(asked.reportDir, report);
    process.stdout.write(show(asked, report));
    if (leave.aborted) return INTERRUPTED;
    return hasFailed() ? 1 : report.asked === 0 ? 2 : report.passed ? 0 : 1;
  } finally {
    progress.end();
    await endStaying();
    await target.close();
  }
}

function untilInterrupted(): Promise<undefined> {
  return new Promise((resolve) => leave.addEventListener("abort", () => resolve(undefined), { once: true }));
}

function show(asked: Arguments, report: Report): string {
  if (asked.format === "json") return toJson(report);
  return asked.format === "junit" ? toJunit(report) : toTable(report, { verbose: asked.verbose });
}

function write(folder: string, report: Report): void {
  writeFileSync(join(folder, "report.json"), toJson(report));
  writeFileSync(join(folder, "report.xml"), toJunit(report));
  writeFileSync(join(folder, "report.html"), toHtml(report));
  writeFileSync(join(folder, "summary.md"), toSummary(report));
}
