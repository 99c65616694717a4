/**
 * No source file over 300 lines, unless its header says `Long because …`.
 *
 * @module
 */
import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import type { Finding } from "./check_imports.ts";

const MOST = 300;

/** Files that are too long, and the sizes of all that are no tests. */
export function checkSize(root: string): { found: Finding[]; median: number; p90: number; files: number } {
  const found: Finding[] = [];
  const sizes: number[] = [];
  for (
    const file of globSync(["src/**/*.ts", "scripts/**/*.ts", "conformance/**/*.ts"], {
      cwd: root,
      exclude: ["**/node_modules/**"],
    }).sort()
  ) {
    if (file.endsWith("_test.ts")) continue;
    const text = readFileSync(join(root, file), "utf8");
    const lines = text.split("\n").length - 1;
    sizes.push(lines);
    const header = text.slice(0, text.indexOf("*/"));
    if (lines > MOST && !/Long because /.test(header)) {
      found.push({
        file,
        line: 1,
        message: `${lines} lines: split it by idea, or say in its header why it is long`,
      });
    }
  }
  sizes.sort((a, b) => a - b);
  const at = (part: number) => sizes[Math.floor((sizes.length - 1) * part)] ?? 0;
  return { found, median: at(0.5), p90: at(0.9), files: sizes.length };
}
