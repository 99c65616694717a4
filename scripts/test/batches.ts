/**
 * Groups test files into batches, one process each: long enough that the start of a process does not matter, and short
 * enough that all processors are busy until the end.
 *
 * @module
 */
import type { Runtime, Times } from "./selection.ts";

export interface Batch {
  readonly runtime: Runtime;
  readonly files: readonly string[];
  /** The expected duration. */
  readonly seconds: number;
}

const MAX_BATCH_SECONDS = 15;
/** The expected duration of a file that `times.json` does not list. */
const DEFAULT_SECONDS = 0.3;

/** Groups files, in order. @param times seconds of each file that takes a second or more */
export function batchFiles(
  runtime: Runtime,
  files: readonly string[],
  times: Times,
): Batch[] {
  const secondsOf = (file: string): number => times[file] ?? DEFAULT_SECONDS;
  // On workerd all files are in one bundle, which one process serves.
  const maxSeconds = runtime === "workerd" ? Infinity : MAX_BATCH_SECONDS;
  const batches: { runtime: Runtime; files: string[]; seconds: number }[] = [];
  for (const file of files) {
    const last = batches.at(-1);
    const seconds = secondsOf(file);
    if (last && last.seconds + seconds <= maxSeconds) {
      last.files.push(file);
      last.seconds += seconds;
    } else batches.push({ runtime, files: [file], seconds });
  }
  return batches;
}
