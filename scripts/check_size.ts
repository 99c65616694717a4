/**
 * Checks that no source file has over 300 lines, unless its header says `Long because …`, and no folder over 22 files
 * (`src/`: 30).
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { dirname, join } from "node:path";
import type { Finding } from "./check_imports.ts";

const MAX_LINES = 300;
/** Tests and their helpers are not counted. */
const MAX_FOLDER_FILES = 22;
/** `src/` has a file for each entry of the package. */
const MAX_ENTRY_FILES = 30;

/** Finds files and folders that are too large, and measures the lines of all files except tests. */
export function checkSize(root: string): { found: Finding[]; median: number; p90: number; files: number } {
  const found: Finding[] = [];
  const sizes: number[] = [];
  const folders = new Map<string, number>();
  for (
    const file of globSync(["src/**/*.ts", "scripts/**/*.ts", "conformance/**/*.ts"], {
      cwd: root,
      exclude: ["**/node_modules/**"],
    }).sort()
  ) {
    if (file.endsWith("_test.ts")) continue;
    if (!/(?:^|[\\/])test_[^\\/]*$/.test(file)) {
      folders.set(dirname(file), (folders.get(dirname(file)) ?? 0) + 1);
    }
    const text = readFileSync(join(root, file), "utf8");
    const lines = text.split("\n").length - 1;
    sizes.push(lines);
    const header = text.slice(0, text.indexOf("*/"));
    if (lines > MAX_LINES && !/Long because /.test(header)) {
      found.push({
        file,
        line: 1,
        rule: "file size",
        message: `${lines} lines, over ${MAX_LINES}: split the file, or say in its header why it is long`,
      });
    }
  }
  for (const [folder, count] of folders) {
    const most = folder === "src" ? MAX_ENTRY_FILES : MAX_FOLDER_FILES;
    if (count > most) {
      found.push({
        file: folder,
        line: 1,
        rule: "folder size",
        message: `${count} source files, over ${most}: split the folder by topic`,
      });
    }
  }
  sizes.sort((a, b) => a - b);
  const at = (part: number) => sizes[Math.floor((sizes.length - 1) * part)] ?? 0;
  return { found, median: at(0.5), p90: at(0.9), files: sizes.length };
}
