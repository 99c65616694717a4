/**
 * What commands put into a data folder is for its owner alone.
 *
 * @module
 */
import { rmSync, statSync, writeFileSync } from "node:fs";
import process from "node:process";

const OTHERS_WRITE = 0o022;

/** Writes a file that only its owner may read. One that is there is replaced, so that no open handle reads the new text. */
export function writePrivateFile(path: string, text: string): void {
  rmSync(path, { force: true });
  writeFileSync(path, text, { mode: 0o600, flag: "wx" });
}

/** Warns of a folder in which other users can replace files. */
export function warnOfSharedFolder(folder: string, onWarning: (message: string) => void): void {
  if (process.platform === "win32" || (statSync(folder).mode & OTHERS_WRITE) === 0) return;
  onWarning(`Other users of this machine can replace files in "${folder}": make its mode 0700`);
}
