/**
 * Files that one process runs, one after the other: enough to pay for its start, and few enough that processors are busy
 * to the end.
 *
 * @module
 */
import type { Runtime, Times } from "./selection.ts";

export interface Batch {
  readonly runtime: Runtime;
  readonly files: readonly string[];
  /** As long as it took when it was measured. */
  readonly seconds: number;
}

const MAX_BATCH_SECONDS = 15;
/** Of a file that takes less than a second. */
const SHORT_SECONDS = 0.3;

/** @param times seconds of each file that takes a second or more */
export function batchFiles(
  runtime: Runtime,
  files: readonly string[],
  times: Times,
): Batch[] {
  const secondsOf = (file: string): number => times[file] ?? SHORT_SECONDS;
  // One bundle, one process.
  const most = runtime === "workerd" ? Infinity : MAX_BATCH_SECONDS;
  const batches: { runtime: Runtime; files: string[]; seconds: number }[] = [];
  for (const file of files) {
    const last = batches.at(-1);
    const seconds = secondsOf(file);
    if (last && last.seconds + seconds <= most) {
      last.files.push(file);
      last.seconds += seconds;
    } else batches.push({ runtime, files: [file], seconds });
  }
  return batches;
}
