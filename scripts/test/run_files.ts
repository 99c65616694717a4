/**
 * Runs uvu test files on the current runtime. On Node, Deno and Bun `main.ts` calls it; on workerd it is bundled with the
 * files.
 *
 * @module
 */

/** A comparison of two large values would print megabytes. */
const MAX_ERRORS_LENGTH = 20_000;

/** Results of one file's tests. `errors` is uvu's text about the failed ones, its middle left out when it is long. */
export interface FileReport {
  readonly file: string;
  readonly passed: number;
  readonly failed: number;
  readonly skipped: number;
  readonly errors: string;
  /** Why tests were skipped, from `skipBecause`. */
  readonly reasons?: readonly string[];
  readonly seconds?: number;
  /** Processor seconds, with those of processes that it started and that ended. */
  readonly processor?: number;
}

/** Prefix of the lines of this protocol in the output, which also contains what tests print. */
export const MARK = "\u0001trivet-test ";

type Runner = () => Promise<[errors: string | true, passed: number, skipped: number, total: number]>;

interface UvuGlobals {
  UVU_DEFER: number;
  UVU_INDEX: number;
  UVU_QUEUE: [string, ...Runner[]][];
}

/** Reasons of skipped tests: uvu only counts them. */
interface SkipReasons {
  TRIVET_SKIPPED?: string[];
}

/** Counts a skipped test and adds the reason to the summary. */
export function skipBecause(test: { skip(name: string, run: () => void): void }, reason: string): void {
  test.skip(reason, () => {});
  ((globalThis as SkipReasons).TRIVET_SKIPPED ??= []).push(reason);
}

/** Imports a file and runs the suites that it registers. */
export async function runFile(file: string, load: () => Promise<unknown>): Promise<FileReport> {
  const started = performance.now();
  const report = await runSuites(file, load);
  return { ...report, errors: shorten(report.errors), seconds: (performance.now() - started) / 1000 };
}

function shorten(text: string): string {
  if (text.length <= MAX_ERRORS_LENGTH) return text;
  const half = MAX_ERRORS_LENGTH / 2;
  return `${text.slice(0, half)}\n[${text.length - 2 * half} characters left out]\n${text.slice(-half)}`;
}

async function runSuites(file: string, load: () => Promise<unknown>): Promise<FileReport> {
  const uvu = globalThis as unknown as UvuGlobals;
  uvu.UVU_DEFER = 1;
  uvu.UVU_QUEUE = uvu.UVU_QUEUE ?? [];
  uvu.UVU_INDEX = uvu.UVU_QUEUE.push([file]) - 1;
  const reasons = (globalThis as SkipReasons).TRIVET_SKIPPED = [];
  const report = { file, passed: 0, failed: 0, skipped: 0, errors: "", reasons };
  try {
    await load();
  } catch (error) {
    const text = error instanceof Error ? error.stack ?? error.message : String(error);
    return { ...report, failed: 1, errors: `Cannot load ${file}: ${text}` };
  }
  for (const run of uvu.UVU_QUEUE[uvu.UVU_INDEX]!.slice(1) as Runner[]) {
    const [errors, passed, skipped, total] = await run();
    report.passed += passed;
    report.skipped += skipped;
    report.failed += total - passed;
    if (typeof errors === "string") report.errors += errors;
  }
  if (report.passed + report.failed + report.skipped === 0) {
    return { ...report, failed: 1, errors: `${file} registers no test. Call test.run() at its end.` };
  }
  return report;
}
