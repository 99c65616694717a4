/**
 * Checks who can read and replace the files of a data folder, and how much space its disk has left.
 *
 * @module
 */
import { existsSync, statfsSync, statSync } from "node:fs";
import { join } from "node:path";
import process from "node:process";
import { formatBytes } from "../progress_bar.ts";
import { fail, type Finding, ok, warn } from "./finding.ts";

const FILES = ["trivet.db", "trivet.db-wal", "trivet.db-shm", "demo.json"];
const OF_OTHERS = 0o077;
const WRITABLE_BY_OTHERS = 0o022;
const MB = 1024 * 1024;
const MIN_FREE_BYTES = 100 * MB;
const LOW_FREE_BYTES = 1024 * MB;

/** Call this before the store is opened: that narrows the modes. */
export function checkModes(folder: string): readonly Finding[] {
  if (process.platform === "win32") return [ok("files", "this system has no modes of files")];
  const found: Finding[] = [];
  if (statSync(folder).mode & WRITABLE_BY_OTHERS) {
    const what = `other users of this machine can replace files in "${folder}"`;
    found.push(fail("files", what, `run: chmod 700 "${folder}"`));
  }
  for (const file of FILES.map((name) => join(folder, name)).filter((file) => existsSync(file))) {
    if (statSync(file).mode & OF_OTHERS) {
      found.push(fail("files", `other users of this machine can read "${file}"`, `run: chmod 600 "${file}"`));
    }
  }
  return found.length > 0 ? found : [ok("files", "only their owner can read and replace the files")];
}

/** @param measure the free bytes of the disk, for tests */
export function checkSpace(
  folder: string,
  measure: (folder: string) => number = freeBytes,
): readonly Finding[] {
  const free = measure(folder);
  const what = `the disk of "${folder}" has ${formatBytes(free)} left`;
  const advice = "free some space: without it nothing can be written";
  if (free < MIN_FREE_BYTES) return [fail("disk", what, advice)];
  return [free < LOW_FREE_BYTES ? warn("disk", what, advice) : ok("disk", what)];
}

function freeBytes(folder: string): number {
  const { bavail, bsize } = statfsSync(folder);
  return bavail * bsize;
}
