/**
 * The expected seconds of test files, from runs that measured them.
 *
 * @module
 */
import type { FileReport } from "./run_files.ts";
import type { Times } from "./selection.ts";

/**
 * The longest time of each file on any runtime, in seconds; files below one second are left out, and a file that did not run
 * keeps its time. Other load on the machine lengthens the time of a file, but not its processor time: a known time rises only
 * to the processor time. To measure a file anew that waits longer than before, remove it from `known`.
 */
export function toTimes(
  reports: readonly Pick<FileReport, "file" | "seconds" | "processor">[],
  known: Times,
): Times {
  const longest = new Map(Object.entries(known));
  for (const file of new Set(reports.map((report) => report.file))) {
    const ofFile = reports.filter((report) => report.file === file);
    const seconds = Math.max(...ofFile.map(({ seconds = 0 }) => seconds));
    const processor = Math.max(...ofFile.map(({ processor = 0 }) => processor));
    const before = known[file];
    const expected = before === undefined ? seconds : Math.max(Math.min(seconds, before), processor);
    if (expected >= 1) longest.set(file, Math.round(expected));
    else longest.delete(file);
  }
  return Object.fromEntries([...longest].sort(([a], [b]) => a < b ? -1 : 1));
}
