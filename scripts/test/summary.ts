/**
 * Prints failures and the summary of a test run.
 *
 * @module
 */
import process from "node:process";
import type { FileReport } from "./run_files.ts";
import { type Runtime, RUNTIMES } from "./selection.ts";

export interface Outcome extends FileReport {
  readonly runtime: Runtime;
}

/** Files that these runtimes were asked to run, and that run only on Node. */
export interface LeftOut {
  readonly runtimes: readonly Runtime[];
  readonly files: readonly string[];
  readonly reason: string;
}

const MAX_SLOWEST_FILES = 20;

export function printFailure(runtime: Runtime, { file, errors }: FileReport): void {
  console.log(`\n✘ ${runtime}: ${file}\n${errors.trimEnd()}\n`);
}

/**
 * Prints a row for each runtime, the skipped tests and why, the slowest files, and the last line. Sets the exit code.
 * @param skippedOnWorkerd files that need a file system or processes
 * @param leftOut files whose subject does not depend on the runtime
 * @param seconds the duration of the whole run
 */
export function printSummary(
  outcomes: readonly Outcome[],
  skippedOnWorkerd: readonly string[],
  leftOut: readonly LeftOut[],
  seconds: number,
): void {
  const row = (name: string, cells: readonly unknown[]) =>
    console.log(name.padEnd(10) + cells.map((cell, i) => String(cell).padStart(i === 0 ? 7 : 10)).join(""));
  console.log();
  row("runtime", ["files", "passed", "failed", "skipped", "seconds", "processor"]);
  for (const runtime of RUNTIMES) {
    const own = outcomes.filter((outcome) => outcome.runtime === runtime);
    if (own.length === 0) continue;
    const sums = (["passed", "failed", "skipped", "seconds", "processor"] as const).map((name) =>
      own.reduce((sum, outcome) => sum + (outcome[name] ?? 0), 0)
    );
    row(runtime, [own.length, ...sums.slice(0, 3), ...sums.slice(3).map((sum) => sum.toFixed(1))]);
  }
  const total = (name: "passed" | "failed" | "skipped" | "seconds" | "processor") =>
    outcomes.reduce((sum, outcome) => sum + (outcome[name] ?? 0), 0);
  row("all", [
    outcomes.length,
    total("passed"),
    total("failed"),
    total("skipped"),
    total("seconds").toFixed(1),
    total("processor").toFixed(1),
  ]);
  console.log(`seconds and processor seconds are sums over files, of which several run at a time`);
  for (const file of skippedOnWorkerd) {
    console.log(`skipped on workerd: ${file} (needs a file system or a process)`);
  }
  for (const { runtimes, files, reason } of leftOut) {
    console.log(`on Node only, not on ${runtimes.join(" and ")}: ${reason}`);
    for (const file of files) console.log(`  ${file}`);
  }
  for (const { runtime, file, skipped, reasons = [] } of outcomes) {
    const withoutReason = skipped - reasons.length;
    if (withoutReason > 0) console.log(`skipped on ${runtime}: ${withoutReason} in ${file}`);
    for (const reason of reasons) console.log(`skipped on ${runtime}: ${file} (${reason})`);
  }
  console.log("\nslowest files:");
  const slowest = outcomes.toSorted((a, b) => (b.seconds ?? 0) - (a.seconds ?? 0)).slice(
    0,
    MAX_SLOWEST_FILES,
  );
  for (const { runtime, file, seconds = 0, processor = 0 } of slowest) {
    console.log(
      `${seconds.toFixed(1).padStart(7)} s (processor ${processor.toFixed(1)} s)  ${
        runtime.padEnd(8)
      }${file}`,
    );
  }
  let failed = total("failed");
  if (total("passed") + failed === 0) {
    console.log("No test ran.");
    failed = 1;
  }
  process.exitCode = failed > 0 ? 1 : 0;
  console.log(`\nDuration: ${seconds.toFixed(0)} s`);
  console.log(
    `${total("passed")} passed, ${failed} failed, ${total("skipped") + skippedOnWorkerd.length} skipped`,
  );
}
