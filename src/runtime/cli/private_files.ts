/**
 * Keeps the files of a data folder private to their owner.
 *
 * @module
 */
import { existsSync, rmdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";
import { makeFolder } from "../../store/drivers/sqlite/make_folder.ts";

/** The mode bits that let other users write. */
const WRITABLE_BY_OTHERS = 0o022;

/** Makes a folder and those above it, which only their owner can enter. */
export function makePrivateFolder(path: string): void {
  makeFolder(path, 0o700);
}

/** Runs work in a folder, and removes one that was not there before and is empty after it. */
export async function inPrivateFolder(path: string, work: () => Promise<void>): Promise<void> {
  const isNew = !existsSync(path);
  makePrivateFolder(path);
  try {
    await work();
  } finally {
    if (isNew) removeEmptyFolder(path);
  }
}

function removeEmptyFolder(path: string): void {
  try {
    rmdirSync(path);
  } catch {
    // It has files, which the work left there.
  }
}

/** Writes a file that only its owner can read. An existing file is replaced, so that no open handle reads the new text. */
export function writePrivateFile(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: "wx" });
}

/** Warns when other users can replace files in a folder. */
export function warnOfSharedFolder(folder: string, onWarning: (message: string) => void): void {
  if (process.platform === "win32" || (statSync(folder).mode & WRITABLE_BY_OTHERS) === 0) return;
  onWarning(`Other users of this machine can replace files in "${folder}". Set its mode to 0700`);
}
