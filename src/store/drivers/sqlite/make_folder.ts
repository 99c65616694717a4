/**
 * Makes folders one by one, because the option `recursive` of Node never returns where a file system has no new folders, as
 * below `/proc`.
 *
 * @module
 */
import { existsSync, mkdirSync, statSync } from "node:fs";
import { dirname } from "node:path";

/** Makes a folder and those above it, with this mode. @throws {Error} when one cannot be made */
export function makeFolder(path: string, mode: number = 0o777): void {
  const isFolder = () => existsSync(path) && statSync(path).isDirectory();
  if (isFolder()) return;
  if (dirname(path) !== path) makeFolder(dirname(path), mode);
  try {
    mkdirSync(path, { mode });
  } catch (error) {
    // Another process was faster.
    if (isFolder()) return;
    throw existsSync(path) ? new Error(`"${path}" is not a folder`, { cause: error }) : error;
  }
}
