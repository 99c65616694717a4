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

const MAX_SLOWEST_FILES = 10;

export function printFailure(runtime: Runtime, { file, errors }: FileReport): void {
  console.log(`\n✘ ${runtime}: ${file}\n${errors.trimEnd()}\n`);
}

/**
 * Prints a row for each runtime, the skipped tests and why, the slowest files, and the last line. Sets the exit code.
 * @param skippedOnWorkerd files that need a file system or processes
 * @param seconds the duration of the whole run
 */
export function printSummary(
  outcomes: readonly Outcome[],
  skippedOnWorkerd: readonly string[],
  seconds: number,
): void {
  const row = (name: string, cells: readonly unknown[]) =>
    console.log(name.padEnd(10) + cells.map((cell, i) => String(cell).padStart(i === 0 ? 7 : 9)).join(""));
  console.log();
  row("runtime", ["files", "passed", "failed", "skipped", "seconds"]);
  for (const runtime of RUNTIMES) {
    const own = outcomes.filter((outcome) => outcome.runtime === runtime);
    if (own.length === 0) continue;
    const sums = (["passed", "failed", "skipped", "seconds"] as const).map((name) =>
      own.reduce((sum, outcome) => sum + (outcome[name] ?? 0), 0)
    );
    row(runtime, [own.length, ...sums.slice(0, 3), sums[3]!.toFixed(1)]);
  }
  for (const file of skippedOnWorkerd) {
    console.log(`skipped on workerd: ${file} (needs a file system or a process)`);
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
  for (const { runtime, file, seconds = 0 } of slowest) {
    console.log(`${seconds.toFixed(1).padStart(7)} s  ${runtime.padEnd(8)}${file}`);
  }
  const total = (name: "passed" | "failed" | "skipped") =>
    outcomes.reduce((sum, outcome) => sum + outcome[name], 0);
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
